import { errorCodes } from 'guard-gateway/core'

export const replayErrors = {
  ...errorCodes(400, 'invalid_request_error', {
    INVALID_SPAN: ['A span cannot be used', 'Correct the named field.'],
    INVALID_EVENT: ['An event cannot be used', 'Correct the named field.'],
    USE_IMPORT: ['This is an exported trace', 'Send it to POST /api/v1/runs/import.'],
    NO_EVENT_ACCEPTED: ['No event of the batch can be used', 'See what is wrong with each in "rejected".'],
    TRACE_ID_REQUIRED: ['It is not said to which run the event belongs', 'Send trace_id on the event or the batch.'],
    UNKNOWN_FORMAT: ['There is no such format', 'Use one of those named.'],
    INVALID_COMPARE: ['It is not said which two runs to compare', 'Send left and right, or trace_ids with two ids.'],
  }),
  ...errorCodes(404, 'not_found_error', {
    NO_PRICE: ['The model has no price', 'Add it to the price file; GUARD_MODEL_PRICING or replay.pricing names it.'],
    RUN_NOT_FOUND: ['There is no such run', 'List them with GET /api/v1/runs.'],
  }),
  ...errorCodes(409, 'conflict_error', {
    SPAN_IMMUTABLE: ['The gateway wrote this span', 'Use another span id.'],
    EVENT_IMMUTABLE: ['The gateway wrote this event', 'Use another event id.'],
    TRACE_CONFLICT: ['The run belongs to another project', 'Use another trace id.'],
    TRACE_EXISTS: ['A run of this id exists already', 'Import it with on_conflict=remap, or skip it.'],
    RUN_FULL: ['The run has as many spans as it may have', 'Begin another trace.'],
  }),
  ...errorCodes(500, 'configuration_error', {
    INVALID_PRICING: ['The price file cannot be used', 'Correct the named line; the last good prices stay.'],
  }),
  ...errorCodes(503, 'overloaded_error', {
    STREAM_FULL: ['As many pages listen as may', 'Close one of them.'],
  }),
}
