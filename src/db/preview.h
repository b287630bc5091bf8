#pragma once

#include "core/database.h"
#include "db/advisory_lock.h"
#include "db/history_table.h"
#include "db/script_runner.h"
#include "db/session_state.h"

namespace lockstep::db {

/// Writes the SQL that applying `step` would send, in order, parameters as constants.
void write_preview(const Step& step, const SessionState& state, const HistoryTable& history,
                   std::int64_t expected_rank, const OpenScript& open, const TextSink& out);

/// The same of a callback with a transaction of its own.
void write_callback_preview(const Migration& callback, const SessionState& state, const HistoryTable& history,
                            const AdvisoryLock& lock, const OpenScript& open, const TextSink& out);

}  // namespace lockstep::db
