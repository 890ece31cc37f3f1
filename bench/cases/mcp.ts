import type { Bench } from 'tinybench'
import { timesAsync } from '../kit.ts'
import { type Judging, openJudging } from '../mcp/judging.ts'
import { type Checked, calls } from '../mcp/policy.ts'
import { type McpStage, mcpStage, type Way } from '../mcp/stage.ts'

const CALLS = 64
const CLIENTS = 8

/** What does judging a tool call cost, and what does the whole proxy add to it: beside the same calls made directly. */
export const register = (bench: Bench): void => {
  for (const checked of ['path', 'shell', 'sql'] as const) judgingOne(bench, checked)
  for (const count of [1, CLIENTS])
    for (const way of ['direct', 'memory', 'sqlite'] as const) calling(bench, way, count)
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

const named: Readonly<Record<Way, string>> = {
  direct: 'directly',
  memory: 'through the proxy, memory',
  sqlite: 'through the proxy, SQLite',
}

const calling = (bench: Bench, way: Way, count: number): void => {
  let stage: McpStage | undefined
  const task = timesAsync(
    CALLS,
    async (index) => stage?.clients[index % count]?.call(calls.path) ?? Promise.reject(new Error('nothing is open')),
    count,
  )
  bench.add(`mcp: ${count === 1 ? 'one client' : `${count} clients`} ${named[way]}`, task, {
    async: true,
    async beforeAll() {
      stage = await mcpStage(way, count)
    },
    async afterAll() {
      await stage?.close()
      stage = undefined
    },
  })
}
