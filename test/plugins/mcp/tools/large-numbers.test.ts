import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type CatalogKit, startCatalogs } from './catalog-kit.ts'

/** As libraries of Rust write the largest value of a `u64`. */
const listed = (maximum: string): string =>
  `{"tools":[{"name":"seek","inputSchema":{"type":"object","properties":{"at":{"type":"integer","maximum":${maximum}}}},"_meta":{"id":12345678901234567890}}]}`

describe('definitions with integers beyond 2^53', () => {
  let catalogs: CatalogKit
  before(async () => {
    catalogs = await startCatalogs()
  })
  after(() => catalogs.kit.close())

  it('are listed, compared to the last digit', async () => {
    const catalog = catalogs.catalog()
    assert.equal(await catalog.observe(listed('18446744073709551615')), undefined)
    assert.deepEqual([[...catalog.names()], catalog.pin('seek')], [['seek'], 'known'])
    await catalog.observe(listed('18446744073709551614'))
    assert.equal(catalog.pin('seek'), 'changed')
    const row = await catalogs.kit.gateway.storage.get('mcp_tools', ['fs', 'seek'])
    assert.match(JSON.stringify(row), /18446744073709551614/)
    await catalog.observe(listed('18446744073709551615'))
    assert.equal(catalog.pin('seek'), 'known')
  })

  it('are pinned where icons of a server hold them', () => {
    const server_info = '{"name":"s","icons":[{"src":"data:,","size":12345678901234567890}]}'
    const catalog = catalogs.catalog()
    catalog.initialized({ protocol_version: '2025-11-25', announcesTools: false, server_info, instructions: null })
    assert.match(catalog.instructionsFingerprint() ?? '', /^[0-9a-f]{64}$/)
  })
})
