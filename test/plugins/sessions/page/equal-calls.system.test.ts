import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from 'guard-gateway/test'

test('equal requests are one row with their time and tokens, until they are unfolded', async () => {
  await using service = await startService()
  const send = async (content: string, count: number) => {
    for (let sent = 0; sent < count; sent++)
      await service.request(
        'POST',
        '/v1/chat/completions',
        { model: 'm', messages: [{ role: 'user', content }] },
        { 'x-guard-session-id': 'window' },
      )
  }
  await send('first', 1)
  await send('again', 110)
  const { json } = await service.request('GET', '/api/sessions')
  const [first] = (json as { readonly sessions: readonly { readonly id: string }[] }).sessions
  const rows = async (query = '') => {
    const { text } = await service.request('GET', `/sessions/${first?.id}${query}`, undefined, { accept: 'text/html' })
    return [...text.matchAll(/<tr id="call-(\w+)" data-row>.*?<\/tr>/gs)].map(([row, id = '']) => ({ row, id }))
  }
  const folded = await rows()
  assert.equal(folded.length, 4, 'flagged alike, two before the rule spoke, and the first')
  const [newest] = folded
  assert.match(newest?.row ?? '', />108 ×<\/a> <span class="[^"]*">shadow_flag/)
  assert.match(newest?.row ?? '', new RegExp(`href="/sessions/[^"]*\\?unfold=${newest?.id}#call-${newest?.id}"`))
  assert.equal((await rows(`?unfold=${newest?.id}`)).length, 111)
})

test('pages of a session go on where the last row ended', async () => {
  await using service = await startService()
  for (let sent = 0; sent < 120; sent++)
    await service.request(
      'POST',
      '/v1/chat/completions',
      { model: 'm', messages: [{ role: 'user', content: `question ${sent - (sent % 2)}` }] },
      { 'x-guard-session-id': 'window' },
    )
  const { json } = await service.request('GET', '/api/sessions')
  const [first] = (json as { readonly sessions: readonly { readonly id: string }[] }).sessions
  const ids: string[] = []
  let path: string | undefined = `/sessions/${first?.id}`
  let pages = 0
  while (path !== undefined) {
    const { text }: { readonly text: string } = await service.request('GET', path, undefined, { accept: 'text/html' })
    for (const [, id = ''] of text.matchAll(/<tr id="call-(\w+)" data-row>/g)) ids.push(id)
    path = /href="([^"]*)">older →/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    pages++
  }
  assert.deepEqual([ids.length, new Set(ids).size, pages], [120, 120, 3])
})
