import { writeFileSync } from 'node:fs'

// Preloaded into a process: records its peak memory in KiB.

const { GUARD_BENCH_PEAK } = process.env
if (GUARD_BENCH_PEAK !== undefined)
  process.once('exit', () => writeFileSync(GUARD_BENCH_PEAK, String(process.resourceUsage().maxRSS)))
