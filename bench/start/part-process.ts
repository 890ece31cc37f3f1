import { registerHooks } from 'node:module'
import type { PartCost } from './parts.ts'

const [, , module = '', call] = process.argv
let modules = 0

/** Resident memory in MB, after what is garbage is gone. */
const resident = (): number => {
  globalThis.gc?.()
  return process.memoryUsage.rss() / 1_048_576
}

// what every start loads is no part's cost
for (const door of ['guard-gateway/core', '#lib/json', '#lib/errors', '#lib/trace']) await import(door)
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) modules++
    return next(url, context)
  },
})
const before = resident()
const began = performance.now()
const loaded: Record<string, unknown> = await import(module)
if (call !== undefined) {
  const [name = '', method = ''] = call.split('.')
  await (loaded[name] as Record<string, () => Promise<void>>)[method]?.()
}
const ms = performance.now() - began
process.stdout.write(JSON.stringify({ mb: resident() - before, modules, ms } satisfies PartCost))
