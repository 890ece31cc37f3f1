import { errorCodes } from 'guard-gateway/core'

export const traceFileErrors = {
  ...errorCodes(400, 'invalid_request_error', {
    INVALID_ID: ['An id cannot be used', 'Use 1 to 128 letters, digits or . _ : @ / + = -'],
    INVALID_TIME: ['A time cannot be used', 'Send nanoseconds since 1970; an end is not before its start.'],
    INVALID_FAILURE_TAG: [
      'There is no such failure tag',
      'Use loop, timeout, rate_limit, policy_block or test_failure.',
    ],
    DUPLICATE_ID: ['Two records have the same id', 'Give each record an id of its own.'],
    PARENT_CYCLE: ['A span is among its own ancestors', 'Correct the parent ids.'],
    INVALID_IMPORT: ['The file cannot be imported', 'Correct the named place; nothing was imported.'],
    UNKNOWN_SCHEMA: ['The file has a schema that is not known', 'Export it again in a version named.'],
    ARTIFACT_CONTENT: ['An artifact carries its content', 'Send metadata alone: path, type, size, hash.'],
  }),
}
