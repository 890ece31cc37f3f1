import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { onlySession } from '#lib/session'

describe('onlySession', () => {
  const refusal = (name: string, ...found: readonly string[]): GuardError => {
    try {
      onlySession(
        name,
        found.map((id) => ({ id })),
      )
    } catch (error) {
      if (error instanceof GuardError) return error
    }
    assert.fail('found')
  }

  it('gives the one session that was found', () => {
    const session = { id: 'ses_a' }
    assert.equal(onlySession('window-1', [session]), session)
  })
  it('names the ids there are where several projects use one external id', () => {
    const { code, place } = refusal('shared', 'ses_b', 'ses_c')
    assert.deepEqual([code, place.known], ['AMBIGUOUS_ID', ['ses_b', 'ses_c']])
  })
  it('says which id there is no session for', () => {
    const { code, message } = refusal('ses_none')
    assert.equal(code, 'SESSION_NOT_FOUND')
    assert.match(message, /"ses_none"/)
  })
})
