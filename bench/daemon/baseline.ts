import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { writeError } from '#lib/errors'
import type { DaemonFigure, MeasuredName } from './figures.ts'

const SCHEMA = 'bench.daemon.v1'

/** A line of a baseline: ratios only, since times and bytes say as much about the machine. */
interface BaselineLine {
  readonly schema: typeof SCHEMA
  readonly figure: string
  readonly target: MeasuredName
  readonly ratio: number
}

/** A ratio beside that of an earlier run. */
export interface ComparedRatio {
  readonly figure: string
  readonly target: MeasuredName
  readonly ratio: number
  readonly earlier: number
}

/** The baseline that comes with the bench. */
export const storedBaseline = (): string =>
  fileURLToPath(new URL('bench/baselines/daemon.jsonl', import.meta.resolve('guard-gateway/package.json')))

/** Compares ratios with those of a baseline, by figure and target. Throws a TypeError if the file has none. */
export const comparedWith = async (
  figures: readonly DaemonFigure[],
  file: string,
): Promise<readonly ComparedRatio[]> => {
  const known = new Map((await linesIn(file)).map(({ figure, target, ratio }) => [`${figure} ${target}`, ratio]))
  return linesOf(figures).flatMap(({ figure, target, ratio }) => {
    const earlier = known.get(`${figure} ${target}`)
    return earlier === undefined ? [] : [{ figure, target, ratio, earlier }]
  })
}

export const writeBaseline = async (figures: readonly DaemonFigure[], file: string): Promise<void> => {
  const lines = linesOf(figures).map((line) => `${JSON.stringify(line)}\n`)
  await writeFile(file, lines.join('')).catch((cause: unknown) => {
    throw writeError(file, cause)
  })
}

/** The raw pass-through is 1 by itself, unless it is divided by something else. */
const linesOf = (figures: readonly DaemonFigure[]): readonly BaselineLine[] =>
  figures.flatMap(({ id, ratios }) =>
    Object.entries(ratios).flatMap(([target, ratio]) =>
      target === 'raw' ? [] : [{ schema: SCHEMA, figure: id, target: target as MeasuredName, ratio: rounded(ratio) }],
    ),
  )

const rounded = (ratio: number): number => Number(ratio.toPrecision(3))

const linesIn = async (file: string): Promise<readonly BaselineLine[]> => {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new TypeError(`The baseline ${file} cannot be read: ${cause.message}`, { cause })
  })
  const lines = text.split('\n').filter((line) => line.includes(`"${SCHEMA}"`))
  if (lines.length === 0) throw new TypeError(`${file} holds no line of ${SCHEMA}; write one with --out.`)
  return lines.map((line) => JSON.parse(line) as BaselineLine)
}
