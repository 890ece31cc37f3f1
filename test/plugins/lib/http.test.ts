import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { byHeaderName, headerText, isCredentialName, mediaType, projectHeader } from '#lib/http'

describe('what is known of header names', () => {
  const counted = () => {
    const asked: string[] = []
    const tell = byHeaderName((lower) => {
      asked.push(lower)
      return lower.length
    })
    return { asked, tell }
  }
  it('is asked in lower case, once a spelling', () => {
    const { asked, tell } = counted()
    assert.deepEqual([tell('X-Api'), tell('X-Api'), tell('x-api')], [5, 5, 5])
    assert.deepEqual(asked, ['x-api', 'x-api'])
  })
  it('is kept of up to 64 characters', () => {
    for (const [length, times] of [
      [64, 1],
      [65, 2],
    ] as const) {
      const { asked, tell } = counted()
      for (let time = 0; time < 2; time++) tell('x'.repeat(length))
      assert.equal(asked.length, times, String(length))
    }
  })
  it('is kept of 1,024 spellings, then anew', () => {
    const { asked, tell } = counted()
    for (let name = 0; name < 1_024; name++) tell(`x-${name}`)
    tell('x-0')
    assert.equal(asked.length, 1_024)
    tell('x-1024')
    tell('x-0')
    assert.equal(asked.length, 1_026)
  })
  it('is whether a credential stands there', () => {
    for (const name of ['authorization', 'cookie', 'x-api-key', 'x-my-api-key', 'my_access_token', 'x-client-secret'])
      assert.equal(isCredentialName(name), true, name)
    for (const name of ['accept', 'x-secret-name', 'my-cookie', 'secret', 'x-keys'])
      assert.equal(isCredentialName(name), false, name)
  })
})

describe('the value of a header', () => {
  it('is read as UTF-8 where its bytes are', () => {
    const sent = (text: string): string => Buffer.from(text).toString('latin1')
    assert.equal(headerText('plain'), 'plain')
    assert.equal(headerText(sent('café')), 'café')
    assert.equal(headerText('caf\xe9'), 'caf\xe9')
  })
  it('is a media type of UTF-8, in lower case and without parameters', () => {
    assert.equal(mediaType(' Application/JSON ; charset="UTF-8"'), 'application/json')
    assert.equal(mediaType('text/plain; charset=utf8'), 'text/plain')
    assert.equal(mediaType('text/plain; other=1'), 'text/plain')
    for (const other of ['text/plain; charset=latin1', 'text', 'a/b/c', '']) assert.equal(mediaType(other), undefined)
  })
  it('names a project where it is an id that holds no credential', () => {
    const judgeId = (id: string) => (id === 'sk-1' ? 'secret' : 'plain')
    const named = (project?: string) => projectHeader({ 'x-guard-project-id': project }, { judgeId })
    assert.deepEqual([named(), named(''), named('shop/1')], [undefined, undefined, 'shop/1'])
    for (const bad of ['.', '..', 'a b', 'x'.repeat(129), 'sk-1'])
      assert.throws(
        () => named(bad),
        (error: unknown) => error instanceof GuardError && error.code === 'INVALID_HEADER',
        bad,
      )
  })
})
