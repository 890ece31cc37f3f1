import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { redactor } from '../../../../plugins/redaction/redact.ts'
import { contexts } from './contexts.ts'
import { type Generated, generate, numbers, type SecretShape, secretShapes } from './shapes.ts'

/** The least share of secrets that must be hidden, of all and in each context. */
const MIN_RECALL = 0.95

const redact = redactor()
const shapes = secretShapes().filter(({ kind }) => kind !== 'shown')
const [whole, texts] = [
  contexts,
  contexts.filter(({ name }) => /^(?:bare|JSON|CRLF|a colour, raw|Markdown, a block)/.test(name)),
]

/** Parts of a secret of so many characters must not be readable either. */
const WINDOW = 16

/** Nothing of the secret that would help is in the output. */
const isHidden = (output: string, secret: string): boolean => {
  for (const line of secret.split('\n')) {
    for (let at = 0; at === 0 || at + WINDOW <= line.length; at++) {
      if (output.includes(line.slice(at, at + WINDOW))) return false
    }
  }
  return true
}

/** The variable a rule is named after. */
const variable = (id: string): string => id.toUpperCase().replaceAll('-', '_')

interface Trial {
  readonly shape: SecretShape
  readonly context: string
  readonly input: string
  readonly secret: string
}

const trialsOf = (shape: SecretShape, { text, secret, whole: standsAlone }: Generated): readonly Trial[] =>
  (standsAlone ? whole : texts).map((context) => ({
    shape,
    context: context.name,
    input: shape.kind === 'named' ? context.named(variable(shape.id), text) : context.around(text),
    secret,
  }))

const random = numbers(20_261_126)
const trials = shapes.flatMap((shape) => [1, 2].flatMap(() => trialsOf(shape, generate(shape, random))))
const missed = trials.filter(({ input, secret }) => !isHidden(redact.text(input), secret))

const recall = (of: readonly Trial[], not: readonly Trial[]): number => 1 - not.length / of.length
const say = (not: readonly Trial[]): string =>
  not
    .slice(0, 40)
    .map(({ shape, context, input }) => `${shape.id} in ${context}: ${input.slice(0, 160)}`)
    .join('\n')

describe(`secrets of ${shapes.length} public shapes`, () => {
  it('has a row for each of the 222 rules of gitleaks', () => {
    assert.equal(
      new Set(
        secretShapes()
          .filter(({ source }) => source === 'gitleaks')
          .map(({ id }) => id),
      ).size,
      222,
    )
  })
  it('hides 95 % of them and more', (test) => {
    test.diagnostic(`${trials.length - missed.length} of ${trials.length} hidden`)
    assert.ok(recall(trials, missed) >= MIN_RECALL, say(missed))
  })
  it('hides 95 % and more in every context', () => {
    for (const { name } of contexts) {
      const [all, not] = [trials, missed].map((of) => of.filter(({ context }) => context === name)) as [
        Trial[],
        Trial[],
      ]
      assert.ok(recall(all, not) >= MIN_RECALL, `${name}: ${not.length} of ${all.length} are not hidden\n${say(not)}`)
    }
  })
  it('misses no rule altogether', () => {
    for (const shape of shapes) {
      const [all, not] = [trials, missed].map((of) => of.filter((trial) => trial.shape === shape)) as [Trial[], Trial[]]
      assert.ok(recall(all, not) > 0.5, `${shape.id}: ${not.length} of ${all.length} are not hidden\n${say(not)}`)
    }
  })
})
