import { errorCodes, GuardError } from 'guard-gateway/core'

const codes = errorCodes(403, 'permission_error', {
  MODEL_CLOSED: ['This model is closed at night', 'Ask for another model, or come back at eight.'],
})

/** Refuses by an error of its own in whichever hook the model names. */
export const veto = {
  name: 'veto',
  apply({ hooks, errorCodes: known }) {
    known.add(codes.MODEL_CLOSED)
    const refuse = (call, hook) => {
      const model = call.envelope?.model ?? call.model
      if (model === `closed-${hook}`) throw new GuardError(codes.MODEL_CLOSED)
      if (model === `unknown-${hook}`) throw new GuardError('NEVER_HEARD_OF', 'Nobody knows this code.')
    }
    hooks.request.tap('veto', (call) => refuse(call, 'request'))
    hooks.decision.tap({ name: 'veto', stage: 7_000 }, (decision, call) => {
      refuse(call, 'decision')
      return call.envelope.model === 'blocked'
        ? { ...decision, decision: 'block', reason: 'CLOSED', message: 'It is closed.' }
        : decision
    })
    hooks.forward.tapPromise({ name: 'veto', stage: -5 }, async (call) => refuse(call, 'forward'))
    hooks.proxy.tapPromise({ name: 'veto', stage: -5 }, async (request) => refuse(request, 'proxy'))
    hooks.outbound.tapPromise('veto', async (_head, request) => refuse(request, 'outbound'))
    hooks.http.tap('veto', (app) => {
      app.get('/api/veto', () => {
        throw new GuardError(codes.MODEL_CLOSED, 'The route is closed.')
      })
    })
  },
}
