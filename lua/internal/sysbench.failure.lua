-- What the engine says and does when something fails.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns the functions.
local sb_log, sb_run_fail = native("sb_log"), native("sb_run_fail")
local error, format, gsub, tonumber, tostring, type = error, format, gsub, tonumber, tostring, type
local FATAL = 0

local failure = {}

-- Errors are any Lua value; messages are text.
function failure.text_of(err)
   if type(err) == "string" or type(err) == "number" then
      -- Parts that every state has are kept without the numbers of lines.
      return (gsub(tostring(err), "^%?:0: ", ""))
   elseif type(err) == "table" and type(err.sql_errmsg) == "string" then
      return format("SQL error, errno = %d, state = '%s': %s", err.sql_errno or 0, err.sql_state or "", err.sql_errmsg)
   end
   return "(not a string)"
end

function failure.say(text)
   sb_log(FATAL, text)
end

-- Of a function of the script's.
function failure.log(name, err)
   failure.say(format("`%s' function failed: %s", name, failure.text_of(err)))
end

-- The other workers stop before their next event.
function failure.stop_run()
   sb_run_fail()
end

-- Before os.exit: an error, if the run is to end in order because its result is kept.
function failure.leave(status)
   status = status == false and 1 or tonumber(status) or 0
   if native("sb_run_exit")(status) then
      error("os.exit(" .. status .. ")", 3)
   end
end

return failure
