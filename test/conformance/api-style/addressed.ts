import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ApiStyle } from 'guard-gateway/core'
import { pathPattern, type RequestTarget } from '#lib/api-style'
import { RequestReader } from '#lib/request-reader'

/** A request, where it is sent, and what that says. */
export interface AddressedSample {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly model: string
  readonly stream: boolean
}

/** The target of a path that the style has, with its parameters. */
const targetAt = (style: ApiStyle, path: string): RequestTarget => {
  for (const own of style.paths) {
    const params = pathPattern(own).match(path)
    if (params !== undefined) return { path, params }
  }
  return assert.fail(`the style has no path for ${path}`)
}

const membersOf = (style: ApiStyle, body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const { [style.list]: list, ...members } = body
  return Array.isArray(list) || list === undefined ? members : body
}

/** Checks that a style reads of an address what it says. */
export const addressesAreRead = (style: ApiStyle, samples: readonly AddressedSample[]): void => {
  it('has a sample of each of its paths', () => {
    for (const path of style.paths)
      assert.ok(
        samples.some((sample) => pathPattern(path).match(sample.path)),
        `there is none for ${path}`,
      )
  })

  for (const { path, body, model, stream } of samples)
    it(`reads model and stream of a request to ${path} with ${Object.keys(body).length} members`, () => {
      const envelope = style.envelope(membersOf(style, body), targetAt(style, path))
      assert.deepEqual({ model: envelope.model, stream: envelope.stream }, { model, stream })
    })

  it('reads the same bytes by where they were sent', () => {
    const reader = new RequestReader()
    const long = 'a'.repeat(5000)
    for (let round = 0; round < 3; round++)
      for (const { path, model, stream } of samples.filter(({ body }) => body === samples[0]?.body))
        for (const rest of [{}, { further: long }]) {
          const bytes = Buffer.from(JSON.stringify({ ...samples[0]?.body, ...rest }))
          const { envelope } = reader.read(style, bytes, 'hint', targetAt(style, path))
          assert.deepEqual({ model: envelope.model, stream: envelope.stream }, { model, stream })
        }
  })
}
