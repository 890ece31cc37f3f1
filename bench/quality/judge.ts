import { serialize } from 'node:v8'
import { type Call, type Decision, type Detector, Gateway, type Plugin, undecided } from 'guard-gateway/core'
import { policy } from 'guard-gateway/plugins/policy'
import { sessions } from 'guard-gateway/plugins/sessions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { RequestReader } from '#lib/request-reader'
import { type Ending, settledOf } from './session.ts'

/** Judges requests like the gateway, without HTTP, upstreams or records. */
export interface Judge {
  readonly gateway: Gateway
  readonly reader: RequestReader
  decide(call: Call): Promise<Decision>
  /** Settles a decided call. */
  settle(call: Call, decision: Decision, ending: Ending): Promise<void>
  /** Nanoseconds of a rule for the current request, including the measurement of its detector. 0 if the rule did not run. */
  ruleNs(ruleId: string): number
  /** Bytes of the memory of these detectors since the last `forget`. */
  memoized(detectors: ReadonlySet<string>): number
  forget(): void
}

/** Opens a gateway with these detectors and rules. The caller must close `gateway`. `decide` throws the errors of detectors. */
export const openJudge = async (
  detectors: readonly (Detector & Plugin)[],
  rules: readonly object[],
  more: readonly Plugin[] = [],
): Promise<Judge> => {
  const watched: Watched = { spent: new Map(), measured: new Map(), memories: new Map() }
  const faults: unknown[] = []
  const gateway = new Gateway().use(
    ...foundation(),
    memory(),
    ...detectors.map((detector) => timed(detector, watched)),
    ...more,
    sessions(),
    policy({ defaults: rules }),
  )
  gateway.hooks.fault.tap('bench', (error) => void faults.push(error))
  await gateway.open()
  return {
    gateway,
    reader: new RequestReader(),
    async decide(call) {
      watched.spent.clear()
      watched.measured.clear()
      const decision = await gateway.hooks.decision.promise(undecided, call)
      if (faults.length > 0) throw faults[0]
      return decision
    },
    async settle(call, decision, ending) {
      await gateway.hooks.settle.promise(settledOf(call, decision, ending))
    },
    ruleNs: (ruleId) => watched.spent.get(ruleId) ?? 0,
    memoized: (ids) => {
      let bytes = 0
      for (const [id, memories] of watched.memories)
        if (ids.has(id)) for (const memory of memories) bytes += serialize(memory).length
      return bytes
    },
    forget() {
      for (const memories of watched.memories.values()) memories.clear()
    },
  }
}

/** Measurements of detectors: nanoseconds by rule, milliseconds of `measure` and memory by detector. */
interface Watched {
  readonly spent: Map<string, number>
  readonly measured: Map<string, number>
  readonly memories: Map<string, Set<object>>
}

const NS_PER_MS = 1e6

/** Adds timing to a detector. Its `measure` runs once for all its rules and counts for each of them. */
const timed = (detector: Detector & Plugin, { spent, measured, memories }: Watched): Plugin => ({
  name: detector.name,
  apply(gateway) {
    const { id, measure } = detector
    const known = new Set<object>()
    if (measure !== undefined) memories.set(id, known)
    gateway.detectors.add({
      ...detector,
      ...(measure === undefined
        ? {}
        : {
            measure(call, memory) {
              known.add(memory)
              const start = performance.now()
              const value = measure(call, memory)
              measured.set(id, performance.now() - start)
              return value
            },
          }),
      detect(evidence) {
        const start = performance.now()
        try {
          return detector.detect(evidence)
        } finally {
          spent.set(evidence.rule.id, (performance.now() - start + (measured.get(id) ?? 0)) * NS_PER_MS)
        }
      },
    })
  },
})
