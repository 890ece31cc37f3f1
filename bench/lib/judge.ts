import { type Call, type Decision, type Detector, Gateway, type Plugin } from 'guard-gateway/core'
import { policy } from 'guard-gateway/plugins/policy'
import { sessions } from 'guard-gateway/plugins/sessions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { type Ending, settledOf, undecided } from './session.ts'

/** Judges requests as the gateway does, without HTTP, upstreams or records. */
export interface Judge {
  readonly gateway: Gateway
  decide(call: Call): Promise<Decision>
  /** Ends a call that was decided. */
  settle(call: Call, decision: Decision, ending: Ending): Promise<void>
  /** Nanoseconds that a rule took for the request in hand; 0 if it was not asked. */
  took(ruleId: string): number
}

/** A gateway with these detectors and rules; whoever opens it closes `gateway`. Throws what a detector throws. */
export const openJudge = async (
  detectors: readonly (Detector & Plugin)[],
  rules: readonly object[],
  more: readonly Plugin[] = [],
): Promise<Judge> => {
  const spent = new Map<string, number>()
  const faults: unknown[] = []
  const gateway = new Gateway().use(
    memory(),
    ...detectors.map((detector) => timed(detector, spent)),
    ...more,
    sessions(),
    policy({ defaults: rules }),
  )
  gateway.hooks.fault.tap('bench', (error) => void faults.push(error))
  await gateway.open()
  return {
    gateway,
    async decide(call) {
      spent.clear()
      const decision = await gateway.hooks.decision.promise(undecided, call)
      if (faults.length > 0) throw faults[0]
      return decision
    },
    async settle(call, decision, ending) {
      await gateway.hooks.settle.promise(settledOf(call, decision, ending))
    },
    took: (ruleId) => spent.get(ruleId) ?? 0,
  }
}

const NS_PER_MS = 1e6

const timed = (detector: Detector & Plugin, spent: Map<string, number>): Plugin => ({
  name: detector.name,
  apply: (gateway) =>
    gateway.detectors.add({
      ...detector,
      detect(evidence) {
        const start = performance.now()
        try {
          return detector.detect(evidence)
        } finally {
          spent.set(evidence.rule.id, (performance.now() - start) * NS_PER_MS)
        }
      },
    }),
})
