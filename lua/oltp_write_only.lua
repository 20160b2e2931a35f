#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- A transaction that only writes: UPDATEs, and DELETEs of rows that are INSERTed again.

require("oltp_common")

check_options = check_delete_inserts

function prepare_statements()
  if not sysbench.opt.skip_trx then
    prepare_begin()
    prepare_commit()
  end
  prepare_index_updates()
  prepare_non_index_updates()
  prepare_delete_inserts()
end

function event()
  local opt = sysbench.opt
  if not opt.skip_trx then
    begin()
  end

  execute_index_updates()
  execute_non_index_updates()
  execute_delete_inserts()

  if not opt.skip_trx then
    commit()
  end
  check_reconnect()
end
