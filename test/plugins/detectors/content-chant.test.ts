import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { contentChant } from 'guard-gateway/plugins/detectors/content-chant'
import { detectorConforms } from '../../conformance/detector.ts'
import { rule } from '../../kit/evidence.ts'

const SENTENCE = 'I will now read the file again to see what the problem with it could be. '

detectorConforms(contentChant, SENTENCE.repeat(10))

const hear = (text: string, threshold = 10) => contentChant.stream?.(rule(contentChant, { threshold })).push(text)

describe('content_chant: 10 times in one reply', () => {
  it('speaks at the tenth time', () => {
    assert.equal(hear(SENTENCE.repeat(9)), undefined)
    assert.deepEqual(hear(SENTENCE.repeat(10)), {
      message: 'the reply said the same 50 characters 10 times',
      evidence: 'stream',
      count: 10,
    })
  })
  it('hears a chant with few texts between', () => {
    const verses = Array.from({ length: 10 }, (_, n) => `${SENTENCE}${n % 2 ? 'Again.' : 'Once more.'} `).join('')
    assert.ok(hear(verses))
  })
  it('takes a form that is filled in with ever new words for none', () => {
    const form = Array.from(
      { length: 30 },
      (_, n) => `The function has the following signature and purpose: f${n} does ${n * 7}. `,
    )
    assert.equal(hear(form.join('')), undefined)
  })
  it('takes repetitions far apart for none', () => {
    let n = 0
    const filler = () => Array.from({ length: 40 }, () => `word${++n}`).join(' ')
    assert.equal(hear(Array.from({ length: 20 }, () => `${SENTENCE}${filler()} `).join('')), undefined)
  })
  it('takes a ruler, a table, a list, a quote and code for none', () => {
    assert.equal(hear(`${'='.repeat(400)}\n`), undefined)
    for (const mark of ['| ', '- ', '* ', '> ', '# ', '12. ']) {
      assert.equal(hear(`${mark}${SENTENCE.trim()}\n`.repeat(30)), undefined, mark)
    }
    assert.equal(
      hear(`\`\`\`ts\n${`const value = compute(input, options, defaults, more)\n`.repeat(30)}\`\`\`\n`),
      undefined,
    )
  })
  it('listens again behind code', () => {
    assert.ok(hear(`\`\`\`\ncode\n\`\`\`\n${SENTENCE.repeat(10)}`))
  })
  it('starts over behind a tool call', () => {
    const watch = contentChant.stream?.(rule(contentChant))
    for (let n = 0; n < 12; n++) {
      assert.equal(watch?.push(SENTENCE.repeat(3)), undefined)
      watch?.gap?.()
    }
  })
  it('takes a long reply of ever new words for none', () => {
    let n = 0
    const text = Array.from({ length: 20_000 }, () => `w${(++n * 7919).toString(36)}`).join(' ')
    assert.equal(hear(text), undefined)
  })
})
