-- Files of Lua are read by the first state that needs them; the others get their code from it.
-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns the functions.
local sb_store_script, sb_stored_script = native("sb_store_script"), native("sb_stored_script")
local cast, text_of, bytes_type = ffi.cast, ffi.string, ffi.typeof("const char *")
local byte, concat, dump, find, format, load, loadstring, open, sub, tonumber =
   byte, concat, dump, find, format, load, loadstring, open, sub, tonumber
local PIECE = 65536

-- The file's text as a chunk, and the text; else nil and what is wrong. What is no Lua is not read to its end.
-- Bytes that have been read of the file may be given; the third result is all of them.
local function compile(file, path, head)
   local pieces, bytes = {}, {}
   local function read()
      local piece = head or file:read(PIECE)
      head = nil
      bytes[#bytes + 1] = piece
      return piece
   end
   local function next_piece()
      local piece = read()
      if piece and #pieces == 0 then
         -- As in standard Lua: a byte order mark does not count, nor does a first line that begins with #.
         piece = find(piece, "^\239\187\191") and sub(piece, 4) or piece
         while piece and byte(piece) == 35 and not find(piece, "\n", 1, true) do
            local more = read()
            piece = more and "#" .. more or nil
         end
         piece = piece and byte(piece) == 35 and sub(piece, (find(piece, "\n", 1, true))) or piece
      end
      pieces[#pieces + 1] = piece
      return piece
   end
   local chunk, message = load(next_piece, "@" .. path)
   return chunk, chunk and concat(pieces) or message, concat(bytes)
end

-- For several workers of a state: a function that returns the file's code as a function, a new one each time, so that
-- each can have globals of its own, and all of one prototype, so that they share what is compiled of them.
local function maker_of(chunk, text, path)
   local maker = byte(text) ~= 27 and loadstring("return function(...) " .. text .. "\nend", "@" .. path)
   -- Byte code is what it is, and a text may be at a limit of the compiler's.
   return maker or loadstring(format("return loadstring(%q)", dump(chunk)))
end

-- Nil if there is nothing to read.
local function open_file(path)
   local file = open(path, "rb")
   if not file then
      return nil
   end
   local _, problem = file:read(0)
   if problem then
      file:close()
      return nil
   end
   return file
end

-- What is kept of a file: the length of its byte code in eight digits, the byte code, and its text.
local function keep(path, chunk, text)
   local code = dump(chunk)
   code = format("%08d", #code) .. code .. text
   sb_store_script(path, code, #code)
end

local function chunk_and_text(kept)
   local from, length = cast(bytes_type, kept + 1), tonumber(kept[0])
   local code_length = tonumber(text_of(from, 8))
   local text = code_is_shared and text_of(from + 8 + code_length, length - 8 - code_length)
   return loadstring(text_of(from + 8, code_length)), text
end

local files, makers = {}, {}

-- A script or module as a function; else nil, and what is wrong with it, if it could be read.
function files.load(path)
   if makers[path] then
      return makers[path]()
   end
   local kept, chunk, text = sb_stored_script(path), nil, nil
   if kept ~= nil then
      chunk, text = chunk_and_text(kept)
   else
      local file = open_file(path)
      if not file then
         return nil
      end
      chunk, text = compile(file, path)
      file:close()
      if not chunk then
         return nil, text
      end
      keep(path, chunk, text)
   end
   if code_is_shared then
      makers[path] = maker_of(chunk, text, path)
      return makers[path]()
   end
   return chunk
end

-- The same of a file that may be another one each time: it is read again, and compiled if it has changed.
local known = {}

function files.load_again(path)
   local file = open_file(path)
   if not file then
      return nil
   end
   local before = known[path]
   local head = before and file:read(#before.bytes + 1) or nil
   if not before or (head or "") ~= before.bytes then
      local chunk, text, bytes = compile(file, path, head)
      if not chunk then
         file:close()
         return nil, text
      end
      before = { bytes = bytes, maker = maker_of(chunk, text, path) }
      known[path] = before
   end
   file:close()
   return before.maker()
end

return files
