import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const TOOL = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js')

/** How the official conformance set went: checks passed and failed by scenario. */
export interface ConformanceResult {
  readonly scenarios: Readonly<Record<string, readonly [passed: number, failed: number]>>
  readonly passed: number
  readonly failed: number
  /** All that was printed, for whoever has to find out why. */
  readonly log: string
}

/** Runs what revision 2025-11-25 of MCP requires of servers against the one at an address. */
export const mcpConformance = async (url: string): Promise<ConformanceResult> => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-conformance-'))
  try {
    const child = spawn(process.execPath, [TOOL, 'server', '--url', url, '--requirements', '2025-11-25'], {
      cwd,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: cwd, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    return read(`${out}\n${err}`)
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

const read = (log: string): ConformanceResult => {
  const lines = log.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)
  const scenarios = Object.fromEntries(
    [...lines].map(([, name = '', passed, failed]) => [name, [Number(passed), Number(failed)] as const]),
  )
  const [, passed, failed] = /^Total: (\d+) passed, (\d+) failed/m.exec(log) ?? []
  if (passed === undefined) throw new Error(`The conformance set did not come to its end:\n${log}`)
  return { scenarios, passed: Number(passed), failed: Number(failed), log }
}
