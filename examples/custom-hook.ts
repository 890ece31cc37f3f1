import type { Plugin } from 'guard-gateway/core'

/** Flags a request for any other model in shadow mode and refuses it in enforce mode. */
export const allowedModels = (allowed: readonly string[]): Plugin => ({
  name: 'allowed-models',
  requires: ['policy'],
  apply({ hooks }) {
    // runs before the rules of the policy, which keep an earlier decision
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
