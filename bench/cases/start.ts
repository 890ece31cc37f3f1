import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from 'tinybench'
import type { Measured } from '../kit.ts'
import { answered, type Program, programs } from '../start/program.ts'

/** How long until the command line has answered: the overview to its end, the MCP proxy until its server's answer to `initialize` is through; beside Node and the server alone. */
export const register = (bench: Bench): void => {
  for (const program of programs) starting(bench, program)
}

const starting = (bench: Bench, program: Program): void => {
  let folder = ''
  const task = async (): Promise<Measured> => {
    const spent = await answered(program, folder)
    return { overriddenDuration: spent, overriddenIterationCost: spent }
  }
  bench.add(`start: ${program.name}`, task, {
    async: true,
    async beforeAll() {
      folder = await mkdtemp(join(tmpdir(), 'guard-bench-'))
      // what the first start compiles and writes is there for the next ones
      await answered(program, folder)
    },
    afterAll: () => rm(folder, { recursive: true, force: true }),
  })
}
