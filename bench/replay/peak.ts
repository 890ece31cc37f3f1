import { writeFileSync } from 'node:fs'

// Imported into a process before anything else: records how much memory that process had at most, in KiB.

const { GUARD_BENCH_PEAK } = process.env
if (GUARD_BENCH_PEAK !== undefined)
  process.once('exit', () => writeFileSync(GUARD_BENCH_PEAK, String(process.resourceUsage().maxRSS)))
