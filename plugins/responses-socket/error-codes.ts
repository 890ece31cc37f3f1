import { errorCodes } from 'guard-gateway/core'

export const socketErrors = {
  ...errorCodes(426, 'invalid_request_error', {
    HTTP_ONLY: [
      'No upstream takes this WebSocket',
      'Send plain requests, as clients do by themselves; or set websocket: on at the upstream that takes WebSockets.',
    ],
  }),
  ...errorCodes(429, 'guard_block', {
    STEER_BUDGET: ['A budget is used up', 'Raise the budget, or begin another session.'],
  }),
}
