import type { Plugin } from 'guard-gateway/core'

/** Models that may be used. In shadow mode another one is flagged, in enforce mode refused. */
export const allowedModels = (allowed: readonly string[]): Plugin => ({
  name: 'allowed-models',
  requires: ['policy'],
  apply({ hooks }) {
    // before the rules of the policy, which count the request and keep what was decided first
    hooks.decision.tap({ name: 'allowed-models', stage: -50 }, (decision, call) => {
      const { model } = call.envelope
      if (decision.decision === 'block' || allowed.includes(model)) return decision
      return {
        ...decision,
        decision: call.mode === 'enforce' ? 'block' : 'shadow_flag',
        reason: 'MODEL_NOT_ALLOWED',
        message: `"${model}" is not among the models ${allowed.join(', ')}.`,
      }
    })
  },
})

export const onlySmallModels = allowedModels((process.env.ALLOWED_MODELS ?? 'm-small').split(','))
