import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { contentHash } from '../../../../../plugins/lib/request-reader/conversation/content-hash.ts'
import { collapse } from '../../../../../plugins/lib/request-reader/conversation/fingerprint.ts'
import { collidingTexts, murmur } from '../../../../kit/murmur-collision.ts'

const hashOf = (text: string, blocks = '') => contentHash(text, blocks).hash
const first128 = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32)

describe('what a text is known by', () => {
  it('is the first half of its SHA-256, however long it is', () => {
    // FIPS 180-2, appendix B
    assert.equal(hashOf('abc'), 'ba7816bf8f01cfea414140de5dae2223')
    assert.equal(hashOf('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'), '248d6a61d20638b8e5c026930c3e6039')
    assert.equal(hashOf('a'.repeat(1_000_000)), 'cdc76e5c9914fb9281a1c7e284d73e67')
    for (const length of [1, 127, 128, 129, 4096, 262_144, 1024 * 1024, 1024 * 1024 + 1]) {
      const text = 'some text, '.repeat(length).slice(0, length)
      assert.equal(hashOf(text), first128(text.trim()), `${length} characters`)
    }
  })

  it('is that of the text with white space collapsed, as text and as bytes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(' ', '\n', '\t ', 'a', 'é', '中文', '🙂', 'word'), { maxLength: 200 }),
        (parts) => {
          const text = parts.join('')
          const collapsed = collapse(text)
          const expected = collapsed === '' ? undefined : first128(collapsed)
          return hashOf(text) === expected
        },
      ),
    )
  })

  it('differs for different texts that MurmurHash3 takes for one, whatever its seed', () => {
    for (const [beginning, end] of [
      ['213 passed, 1 of '.padEnd(160, '.'), ''],
      ['x'.repeat(16), ` and ${'more of it '.repeat(40)}`],
      ['', 'y'],
    ] as const) {
      const texts = collidingTexts(beginning, end)
      for (const seed of [0n, 1n, 0x9747b28cn, 0x0123456789abcdefn])
        assert.equal(new Set(texts.map((text) => murmur(Buffer.from(text), seed).join())).size, 1)
      assert.equal(new Set(texts).size, 4)
      assert.equal(new Set(texts.map((text) => hashOf(text))).size, 4)
    }
  })

  it('differs for a text and for one with something beside it, whatever the text says', () => {
    const block = '{"data":"aGk=","type":"image"}'
    const [text, long] = ['a picture', 'a picture, and what it shows. '.repeat(20).trim()]
    for (const said of [text, long]) {
      const hash = hashOf(said, block)
      const alike = ['\0', '\u00ff', '\ufffd', ' ', ''].map((between) => hashOf(`${said}${between}${block}`))
      assert.ok(![hashOf(said), ...alike].includes(hash))
    }
  })
})
