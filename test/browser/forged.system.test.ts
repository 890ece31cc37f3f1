import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { rawHttp } from '../kit/raw-http.ts'
import { noBrowser } from './chromium.ts'
import { threeSteps } from './data.ts'
import { startWorld, type World } from './world.ts'

describe('what another page tries', { skip: noBrowser }, () => {
  let world: World
  let other: Server
  let elsewhere: string
  let id: string
  before(async () => {
    world = await startWorld()
    id = await world.trace(threeSteps('to be pinned', Date.now()))
    // a page of another local server, on its own port
    other = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>other</title><body></body>')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  })
  after(async () => {
    other.close()
    await world.close()
  })

  const pinned = async (): Promise<boolean> => {
    const { json } = await world.api('GET', `/api/v1/runs/${id}`)
    return (json.run as { readonly pinned: boolean }).pinned
  }

  it('a form of another local page changes nothing', async () => {
    const context = await world.browser.newContext()
    const forms: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
      [`/ui/runs/${id}/pin`, 'application/x-www-form-urlencoded', { pinned: 'true' }],
      ['/ui/runs/import', 'multipart/form-data', { file: '{}' }],
      ['/ui/approvals/apr_1', 'application/x-www-form-urlencoded', { action: 'allow', scope: 'once' }],
      [`/api/v1/runs/${id}/pin`, 'text/plain', { '{"pinned":true,"a":"': '"}' }],
    ]
    for (const [path, enctype, fields] of forms) {
      const page = await context.newPage()
      await page.goto(elsewhere)
      const answered = page.waitForResponse((answer) => answer.url().startsWith(world.url))
      await page.evaluate(
        ([action, type, values]) => {
          const form = document.createElement('form')
          Object.assign(form, { method: 'post', action, enctype: type })
          for (const [name, value] of Object.entries(values)) {
            const field = document.createElement('input')
            Object.assign(field, { name, value })
            form.append(field)
          }
          document.body.append(form)
          form.submit()
        },
        [world.url + path, enctype, fields] as const,
      )
      assert.equal((await answered).status(), 403, path)
    }
    assert.equal(await pinned(), false)
    await context.close()
  })

  it('a script of another local page neither reads nor writes', async () => {
    const context = await world.browser.newContext()
    const page = await context.newPage()
    await page.goto(elsewhere)
    const outcomes = await page.evaluate(
      async ([base, run]) => {
        const tries: [string, RequestInit][] = [
          ['/api/v1/runs', {}],
          ['/replay', {}],
          [`/api/v1/runs/${run}/pin`, { method: 'POST' }],
          [`/api/v1/runs/${run}/pin`, { method: 'POST', mode: 'no-cors' }],
          [`/ui/runs/${run}/pin`, { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ pinned: 'true' }) }],
          [
            '/api/v1/mcp/approvals/apr_1',
            { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
          ],
        ]
        return Promise.all(
          tries.map(([path, init]) =>
            fetch(base + path, init).then(
              (answer) => answer.type,
              () => 'refused',
            ),
          ),
        )
      },
      [world.url, id] as const,
    )
    for (const outcome of outcomes) assert.ok(['refused', 'opaque'].includes(outcome), outcome)
    assert.equal(await pinned(), false)
    await context.close()
  })

  it('our pages are not framed', async () => {
    const context = await world.browser.newContext()
    const page = await context.newPage()
    await page.goto(elsewhere)
    await page.evaluate((address) => {
      const frame = document.createElement('iframe')
      frame.src = address
      document.body.append(frame)
      return new Promise((resolve) => {
        frame.onload = resolve
      })
    }, `${world.url}/replay`)
    assert.equal(await page.frameLocator('iframe').locator('#main').count(), 0)
    await context.close()
  })

  it('a foreign, absent or null origin, a sibling site and a foreign host are refused', async () => {
    const body = 'pinned=true'
    const send = (headers: readonly string[]) =>
      rawHttp(
        Number(new URL(world.url).port),
        [
          `POST /ui/runs/${id}/pin HTTP/1.1`,
          ...headers,
          'content-type: application/x-www-form-urlencoded',
          `content-length: ${body.length}`,
          'connection: close',
          '',
          body,
        ].join('\r\n'),
      )
    const host = `host: ${new URL(world.url).host}`
    for (const headers of [
      [host, 'origin: https://evil.example'],
      [host, 'origin: null'],
      [host, 'sec-fetch-site: same-site'],
      [host, 'sec-fetch-site: cross-site', `origin: ${world.url}`],
      [host, `origin: ${elsewhere}`],
      ['host: evil.example'],
      [`host: 127.0.0.1.evil.example:${new URL(world.url).port}`],
    ]) {
      const { status } = await send(headers)
      assert.equal(status, 403, headers.join(', '))
    }
    assert.equal(await pinned(), false)
  })

  it('a form that is our own leads to no other host', async () => {
    const visit = await world.open()
    for (const return_to of ['//evil.example/', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
      await visit.to(`/replay/${id}`)
      await visit.page.evaluate((target) => {
        for (const field of document.querySelectorAll<HTMLInputElement>('[name="return_to"]')) field.value = target
      }, return_to)
      await visit.page.locator('main .pin').first().click()
      await visit.page.waitForURL(/notice=/)
      assert.equal(new URL(visit.page.url()).origin, world.url)
    }
    await visit.close()
  })
})
