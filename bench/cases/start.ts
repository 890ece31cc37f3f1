import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from 'tinybench'
import type { Measured } from '../kit.ts'
import { type Program, programs, timeToResponse } from '../start/program.ts'

/**
 * The start time of the command line, next to Node alone and the MCP server alone. The overview counts to its end,
 * the MCP proxy to the server's response to `initialize`.
 */
export const register = (bench: Bench): void => {
  for (const program of programs) starting(bench, program)
}

const starting = (bench: Bench, program: Program): void => {
  let folder = ''
  const task = async (): Promise<Measured> => {
    const spent = await timeToResponse(program, folder)
    return { overriddenDuration: spent, overriddenIterationCost: spent }
  }
  bench.add(`start: ${program.name}`, task, {
    async: true,
    async beforeAll() {
      folder = await mkdtemp(join(tmpdir(), 'guard-bench-'))
      // the first start fills the compile cache for the next ones
      await timeToResponse(program, folder)
    },
    afterAll: () => rm(folder, { recursive: true, force: true }),
  })
}
