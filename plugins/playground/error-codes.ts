import { errorCodes } from 'guard-gateway/core'

export const playgroundErrors = {
  ...errorCodes(404, 'not_found_error', {
    SCENARIO_NOT_FOUND: ['There is no such scenario', 'Choose one of those named.'],
    PLAYGROUND_RUN_NOT_FOUND: ['There is no such playground run', 'List them with GET /api/v1/playground/runs.'],
  }),
  ...errorCodes(409, 'conflict_error', {
    PLAYGROUND_RUN_ENDED: ['The playground run has ended already', 'Start a new one.'],
  }),
  ...errorCodes(429, 'rate_limit_error', {
    PLAYGROUND_BUSY: [
      'As many playground runs wait as may',
      'Try again when some have ended: four run at once, a hundred wait.',
    ],
  }),
  ...errorCodes(503, 'api_error', {
    INTERRUPTED: ['The gateway stopped before this had ended', 'Start it again.'],
  }),
}
