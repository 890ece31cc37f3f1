import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Plugin, StorageState } from 'guard-gateway/core'
import { logStorage } from '../../../plugins/http/log-storage.ts'
import { start } from './kit.ts'

it('the log says that the storage is slow once a minute, and each time that it fails and records again', () => {
  let now = 0
  let tell: (state: StorageState) => void = () => {}
  const seen: string[] = []
  const state = {
    gateway: {
      clock: { tick: () => now },
      storage: {
        onState: (listener: typeof tell) => {
          tell = listener
        },
      },
    },
    log: { line: (level: string, { message = '' }) => seen.push(`${level} ${message.split(/[:.]/)[0]}`) },
  }
  logStorage(state as never)
  for (const [at, next] of [
    [0, 'busy'],
    [1, 'ok'],
    [2_000, 'busy'],
    [2_001, 'ok'],
    [3_000, 'busy'],
    [3_001, 'full'],
    [3_002, 'ok'],
    [60_000, 'busy'],
    [60_001, 'failing'],
  ] as const) {
    now = at
    tell(next)
  }
  assert.deepEqual(seen, [
    'warn The storage is slow',
    'info The storage records again',
    'error The storage is full',
    'info The storage records again',
    'warn The storage is slow',
    'error The storage fails',
  ])
})

it('the log of a server begins with the storage', async () => {
  const listeners: ((state: StorageState) => void)[] = []
  const told: Plugin = {
    name: 'told',
    apply: (gateway) =>
      gateway.hooks.open.tap('told', () => {
        Object.defineProperty(gateway.storage, 'onState', { value: (add: () => void) => listeners.push(add) })
      }),
  }
  await using running = await start({ plugins: [told] })
  for (const listener of listeners) listener('full')
  assert.match(running.log.join(''), /"level":"error","message":"The storage is full/)
})
