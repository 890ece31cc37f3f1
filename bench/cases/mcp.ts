import type { Bench } from 'tinybench'
import { timesAsync } from '../kit.ts'
import { type Judging, openJudging } from '../mcp/judging.ts'
import type { Checked } from '../mcp/policy.ts'

/** The cost of judging one tool call. The suite `mcp` measures the whole proxy. */
export const register = (bench: Bench): void => {
  for (const checked of ['path', 'shell', 'sql'] as const) judgingOne(bench, checked)
}

const judgingOne = (bench: Bench, checked: Checked): void => {
  let judging: Judging | undefined
  const task = timesAsync(
    200,
    async () => (await judging?.judge(checked)) ?? Promise.reject(new Error('nothing is open')),
  )
  bench.add(`mcp: judge a call by 20 rules, ${checked} check`, task, {
    async: true,
    async beforeAll() {
      judging = await openJudging()
    },
    async afterAll() {
      await judging?.close()
      judging = undefined
    },
  })
}
