import { costOf, parts } from './parts.ts'

/** Processes of each part; the median is printed, since compiled code is kept from the first. */
const TIMES = 5

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** The table of `bench/README.md`: what each part costs when it is first used. */
process.stdout.write('| Part | Resident MB | Modules | ms |\n| --- | ---: | ---: | ---: |\n')
for (const part of parts) {
  const costs = []
  for (let time = 0; time < TIMES; time++) costs.push(await costOf(part))
  const cells = [
    median(costs.map(({ mb }) => mb)).toFixed(0),
    median(costs.map(({ modules }) => modules)),
    median(costs.map(({ ms }) => ms)).toFixed(0),
  ]
  process.stdout.write(`| ${part.name} | ${cells.join(' | ')} |\n`)
}
