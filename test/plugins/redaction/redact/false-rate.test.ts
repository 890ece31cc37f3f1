import assert from 'node:assert/strict'
import { it } from 'node:test'
import { redactor } from '../../../../plugins/redaction/redact.ts'
import { lookAlikeTexts } from './look-alike-texts.ts'
import { numbers } from './shapes.ts'

/** The largest share of texts without a secret that may be changed. */
const MAX_FALSE = 0.01

it('hides nothing in more than 99 % of texts that only look like secrets', (test) => {
  const redact = redactor()
  const samples = lookAlikeTexts(numbers(20_261_126))
  const changed = samples.filter(({ text }) => redact.text(text) !== text)
  test.diagnostic(`${changed.length} of ${samples.length} changed`)
  const said = changed.map(({ what, text }) => `${what}: ${text.slice(0, 120)} -> ${redact.text(text).slice(0, 120)}`)
  assert.ok(changed.length / samples.length <= MAX_FALSE, said.join('\n'))
})
