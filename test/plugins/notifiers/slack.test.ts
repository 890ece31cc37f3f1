import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { slack } from 'guard-gateway/plugins/notifiers/slack'
import { aNotification, connected, fakeProvider, notifierConforms } from 'guard-gateway/test'

notifierConforms(slack, { http: (url) => ({ url: `${url}/services/T0/B0/hidden` }) })
notifierConforms(slack, { http: (url) => ({ url: `${url}/api/webhooks/1/hidden`, form: 'discord' as const }) })
notifierConforms(slack, { http: (url) => ({ url: `${url}/workflows/hidden`, form: 'teams' as const }) })

const hostile = '<!channel> & <https://evil.example|Open> *a* `b` @everyone [x](https://evil.example) <@U1>'

const sent = async (form: 'slack' | 'discord' | 'teams', more = {}) => {
  await using receiver = await fakeProvider()
  const target = connected(slack, { url: receiver.url, form })
  await target.send(aNotification(more), new AbortController().signal)
  target.close?.()
  return JSON.parse(receiver.last.body.toString())
}

describe('a message in Slack', () => {
  it('has the sentence, and the link beside it', async () => {
    assert.deepEqual(await sent('slack'), {
      text: 'A request of session ses_1 was blocked.',
      blocks: [
        {
          type: 'section',
          text: { type: 'plain_text', text: 'A request of session ses_1 was blocked.', emoji: false },
        },
        {
          type: 'context',
          elements: [
            { type: 'mrkdwn', text: '<http://127.0.0.1:8787/sessions/ses_1|Open in Guard>', verbatim: true },
            { type: 'plain_text', text: 'blocked · shop', emoji: false },
          ],
        },
      ],
    })
  })
  it('calls nobody and links nowhere by what stands in names', async () => {
    const { text, blocks } = await sent('slack', { text: hostile, project_id: hostile, url: 'http://g.example/a|b>c' })
    assert.doesNotMatch(text, /[<>]/)
    assert.equal(blocks[0].text.type, 'plain_text')
    const [link, about] = blocks[1].elements
    assert.equal(link.text, '<http://g.example/a%7Cb&gt;c|Open in Guard>')
    assert.equal(about.type, 'plain_text')
  })
})

describe('a message in Discord', () => {
  it('is an embed with its link, and mentions nobody', async () => {
    assert.deepEqual(await sent('discord'), {
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: 'Open in Guard',
          url: 'http://127.0.0.1:8787/sessions/ses_1',
          description: 'A request of session ses\\_1 was blocked.',
          timestamp: '2026-01-01T00:00:00.000Z',
          footer: { text: 'blocked · shop' },
        },
      ],
    })
  })
  it('has no Markdown by what stands in names', async () => {
    const { embeds } = await sent('discord', { text: hostile })
    assert.doesNotMatch(embeds[0].description, /(?<!\\)[*_~`|<>[\]()@:]/)
  })
})

describe('a message in Teams', () => {
  it('is a card whose texts have no Markdown, with a button that opens the page', async () => {
    const { type, attachments } = await sent('teams', { text: hostile })
    assert.equal(type, 'message')
    const [{ contentType, content }] = attachments
    assert.equal(contentType, 'application/vnd.microsoft.card.adaptive')
    assert.deepEqual(content.body[0], { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: hostile }] })
    assert.deepEqual(content.actions, [
      { type: 'Action.OpenUrl', title: 'Open in Guard', url: 'http://127.0.0.1:8787/sessions/ses_1' },
    ])
    assert.equal(JSON.stringify(content).includes('TextBlock","text'), false)
  })
  it('has no button where the address of the gateway is not known', async () => {
    const { attachments } = await sent('teams', { url: '' })
    assert.equal(attachments[0].content.actions, undefined)
  })
})

describe('the form of a message', () => {
  it('is known by the host', async () => {
    const { bodyOf } = await import('./host-forms.ts')
    assert.ok('blocks' in (await bodyOf('https://hooks.slack.com/services/x')))
    assert.ok('blocks' in (await bodyOf('https://mattermost.example/hooks/x')))
    assert.ok('embeds' in (await bodyOf('https://discord.com/api/webhooks/1/x')))
    assert.ok('attachments' in (await bodyOf('https://a.b.environment.api.powerplatform.com/workflows/x')))
    assert.ok('attachments' in (await bodyOf('https://prod-1.westeurope.logic.azure.com/workflows/x')))
    assert.ok('blocks' in (await bodyOf('https://discord.com.evil.example/x')))
  })
})
