import { random } from '../../bench/kit/random.ts'

/** Choices that are the same for the same seed. */
export interface Dice {
  /** An integer from 0, below `limit`. */
  below(limit: number): number
  pick<T>(list: readonly T[]): T
}

export const diceOf = (seed: number): Dice => {
  const next = random(seed)
  const below = (limit: number): number => Math.floor(next() * limit)
  const pick = <T>(list: readonly T[]): T => {
    const found = list[below(list.length)]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }
  return { below, pick }
}

type Mutation = (bytes: Buffer, dice: Dice, other: Buffer) => Buffer

/** The bytes with `insert` in place of `length` bytes at `from`. */
const spliced = (bytes: Buffer, from: number, length: number, insert: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + length)])

const oddities = [
  'null',
  '-0',
  '1e999',
  '9007199254740993',
  '""',
  '[]',
  '{}',
  '"__proto__":{"polluted":1},',
  '"constructor":{"prototype":{"polluted":1}},',
  '\\u0000',
  '\\ud800',
  '\u0000',
  '\u202e',
  '\ufeff',
  '"model":"again",',
  '../../etc/passwd',
  '<script>',
  '\r\nx-injected: 1\r\n',
].map((text) => Buffer.from(text))

/** Ways to damage bytes that some reader takes. */
const mutations: Readonly<Record<string, Mutation>> = {
  flip: (bytes, dice) => {
    const copy = Buffer.from(bytes)
    for (let left = 1 + dice.below(4); left > 0 && copy.length > 0; left--) {
      const at = dice.below(copy.length)
      copy[at] = (copy[at] ?? 0) ^ (1 << dice.below(8))
    }
    return copy
  },
  cut: (bytes, dice) => bytes.subarray(0, dice.below(bytes.length + 1)),
  remove: (bytes, dice) => spliced(bytes, dice.below(bytes.length + 1), 1 + dice.below(20), Buffer.alloc(0)),
  repeat: (bytes, dice) => {
    const from = dice.below(bytes.length + 1)
    const piece = bytes.subarray(from, from + 1 + dice.below(60))
    return spliced(bytes, from, 0, Buffer.concat(Array.from({ length: 1 + dice.below(30) }, () => piece)))
  },
  splice: (bytes, dice, other) => {
    const from = dice.below(other.length + 1)
    return spliced(bytes, dice.below(bytes.length + 1), dice.below(10), other.subarray(from, from + dice.below(200)))
  },
  nest: (bytes, dice) => {
    const [open, close] = dice.pick([
      ['[', ']'],
      ['{"a":', '}'],
    ] as const)
    const depth = dice.pick([40, 130, 300, 600, 6_000])
    return spliced(bytes, dice.below(bytes.length + 1), 1, Buffer.from(`${open.repeat(depth)}1${close.repeat(depth)}`))
  },
  run: (bytes, dice) =>
    spliced(
      bytes,
      dice.below(bytes.length + 1),
      0,
      Buffer.from(dice.pick(['a', '"', '\\', ' ', '9', '\0', 'ä']).repeat(20_000)),
    ),
  odd: (bytes, dice) => spliced(bytes, dice.below(bytes.length + 1), dice.below(6), dice.pick(oddities)),
}

/** The bytes after one to three mutations; `others` lend pieces. */
export const mutated = (bytes: Buffer, others: readonly Buffer[], dice: Dice): { bytes: Buffer; by: string } => {
  const names: string[] = []
  let changed = bytes
  for (let left = 1 + dice.below(3); left > 0; left--) {
    const [name, change] = dice.pick(Object.entries(mutations))
    names.push(name)
    changed = change(changed, dice, dice.pick(others))
  }
  return { bytes: changed, by: names.join(', ') }
}
