import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { type Service, startService } from 'guard-gateway/test'
import { dialectOf, looping } from '../../../kit.ts'

/** Prints the modules that draw charts which a gateway has loaded once it has shown its start page, which has no requests yet. */
const FIRST_PAGE = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
const { startGateway } = await import('guard-gateway/test')
const started = await startGateway()
const { status } = await fetch(started.url, { headers: { accept: 'text/html' } })
await started.close()
const drawing = loaded.filter((url) => /\\/(?:d3-\\w+|recorder\\/chart)\\//.test(url))
console.log(JSON.stringify([status, loaded.some((url) => url.includes('/recorder/page/')), drawing]))
`
const STRIP = /<h2 class="strip">/

describe('charts on pages', () => {
  let service: Service
  const page = async (path: string, status = 200): Promise<string> => {
    const answer = await fetch(service.gateway.url + path, { headers: { accept: 'text/html' } })
    assert.equal(answer.status, status, path)
    const text = await answer.text()
    assert.doesNotMatch(text, /<style|\sstyle=|<script>|\son\w+="/)
    return text
  }
  before(async () => {
    service = await startService()
  })
  after(() => service[Symbol.asyncDispose]())

  it('are not there before the first request', async () => {
    assert.doesNotMatch(await page('/'), STRIP)
    assert.doesNotMatch(await page('/replay'), STRIP)
  })
  it('cost a gateway nothing that has none to show', async () => {
    const args = ['--conditions=guard-source', '--input-type=module', '--eval', FIRST_PAGE]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    assert.deepEqual(JSON.parse(stdout), [200, true, []])
  })
  describe('once there are requests', () => {
    before(async () => {
      const headers = { 'x-guard-session-id': 'one', 'x-guard-agent-id': 'fixer', 'x-guard-project-id': 'web' }
      for (let n = 0; n < 4; n++) await service.send(dialectOf('messages'), looping(1), headers)
      await service.request('POST', '/api/demo/run', { scenario: 'token-limit' })
    })

    it('stand first on the start page, and leave the Playground out', async () => {
      const text = await page('/')
      assert.match(text, /<section><h2 class="strip">Last 24 hours<\/h2>/)
      assert.ok(text.indexOf('class="strip"') < text.indexOf('<h2>Spend and upstreams'))
      assert.match(text, /<figcaption>Requests<br><strong>4<\/strong>/)
      assert.match(await page('/?playground=show'), /<figcaption>Requests<br><strong>8<\/strong>/)
      assert.match(
        await page('/?range=1h&group=agent'),
        /<h2 class="strip">Last hour[\s\S]*<bdi title="fixer">fixer<\/bdi>/,
      )
    })
    it('stand above the list, whose filters they keep, and whose API they are no part of', async () => {
      const text = await page('/replay?range=7d&group=model&playground=show&project_id=web&status=ok')
      assert.match(text, /<h2 class="strip">Last 7 days/)
      assert.ok(text.indexOf('<figure') < text.indexOf('<table class="runs'))
      assert.match(text, /<figcaption>Requests<br><strong>4<\/strong>/)
      assert.match(text, /The charts count all requests of this time, project; they do not know the filter status\./)
      for (const name of ['range', 'group'])
        assert.match(text, new RegExp(`<input type="hidden" name="${name}"`), 'the form keeps what is chosen')
      assert.match(text, /<select name="playground"><option value="show" selected>shown/)
      assert.match(await page('/replay?since=1h&agent=fixer'), /<h2 class="strip">Last hour[\s\S]*<strong>4<\/strong>/)
      assert.doesNotMatch(await page('/replay?session_id=one'), STRIP)
      await page('/replay?colour=red', 400)
      assert.equal((await service.request('GET', '/api/v1/runs?range=7d')).status, 400)
    })
    it('lead to a list that has the runs of a bar', async () => {
      const text = await page('/')
      const hrefs = [...text.matchAll(/<th scope="row"><a href="(\/replay\?since[^"]+)"/g)].map(([, href = '']) => href)
      assert.ok(hrefs.length > 0)
      for (const href of hrefs) assert.match(await page(href.replaceAll('&amp;', '&')), /<tr id="run-/)
    })
    it('are on the page of an agent, with what that agent did', async () => {
      const text = await page('/agents/fixer?group=decision')
      assert.match(text, /<figcaption>Requests<br><strong>4<\/strong>/)
      assert.match(text, /data-list="\/replay\?agent=fixer"/)
      assert.ok(text.indexOf('<figure') < text.indexOf('id="sessions"'))
      await page('/agents/nobody', 404)
    })
    it('are not drawn for times that are none, and bounded for those that are long', async () => {
      assert.doesNotMatch(await page('/replay?since=soon', 400), STRIP)
      assert.doesNotMatch(await page('/replay?since=2026-01-02&until=2026-01-01'), STRIP)
      for (const query of ['since=999999h', 'since=1970-01-01', 'since=999999d&until=9999-12-31', 'until=9999-12-31'])
        assert.ok((await page(`/replay?${query}`)).length < 100_000, query)
    })
  })
})
