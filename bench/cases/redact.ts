import { type Change, type DriverChange, Gateway } from 'guard-gateway/core'
import { createStore } from 'guard-gateway/plugins/store'
import { foundation } from 'guard-gateway/presets/foundation'
import type { Bench } from 'tinybench'
import { recordedBatch } from '../kit/batches.ts'
import { prose, random, times, timesAsync } from '../kit.ts'

/** The cost of redacting the rows of a request before they are stored, and of redacting a text. */
export const register = async (bench: Bench): Promise<void> => {
  const { tables, request } = await recordedBatch()
  const { redact } = new Gateway().use(...foundation())
  const store = createStore(acceptingDriver, tables, { redact })
  const changes = request.map(asChange)
  bench.add(
    'redact: checks and redaction of the rows of a request',
    timesAsync(500, () => store.write(changes)),
    {
      async: true,
    },
  )
  for (const kib of [1, 32]) {
    const text = prose(random(kib), kib * 1024)
    bench.add(
      `redact: a text without secrets, ${kib} KB`,
      times(20, () => redact.text(text)),
    )
  }
}

const acceptingDriver: Parameters<typeof createStore>[0] = {
  capabilities: { search: 'none', shared: false },
  state: 'ok',
  onState: () => () => {},
  get: async () => undefined,
  find: async () => ({ rows: [], positions: [], next: null, truncated: false }),
  sum: async () => [],
  write: async () => true,
  remove: async () => 0,
  bytes: async () => 0,
  close: async () => {},
}

/** The change as a feature requests it. */
const asChange = (change: DriverChange): Change => {
  const table = change.table.id
  if (change.kind === 'put') return { table, put: change.row } as unknown as Change
  if (change.kind === 'patch') return { table, key: change.key, patch: change.changes } as unknown as Change
  if (change.kind === 'add') return { table, key: change.key, add: change.sums } as unknown as Change
  return { table, key: change.key, remove: true } as unknown as Change
}
