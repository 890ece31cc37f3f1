import { plainSchema } from 'guard-gateway/core'
import {
  type HttpReceiver,
  httpReceiverSchema,
  httpTarget,
  type Notification,
  notifier,
} from 'guard-gateway/lib/notifier'

const forms = ['slack', 'discord', 'teams'] as const
type Form = (typeof forms)[number]

interface SlackOptions extends HttpReceiver {
  readonly form?: Form
}

const schema = plainSchema<SlackOptions>({
  type: 'object',
  properties: { ...httpReceiverSchema, form: { type: 'string', enum: forms } },
  required: ['url'],
  additionalProperties: false,
})

/** Incoming webhooks of Slack and what understands the same, of Discord, and of workflows of Microsoft Teams. `form` is known by the host unless set. */
export const slack = notifier({
  id: 'slack',
  schema,
  secrets: ['url'],
  connect(options, context) {
    const bodyOf = bodies[options.form ?? formAt(options.url)]
    return httpTarget(options, context, (notification) => ({ body: JSON.stringify(bodyOf(notification)) }))
  },
})

const hosts: readonly (readonly [RegExp, Form])[] = [
  [/(?:^|\.)discord(?:app)?\.com$/, 'discord'],
  [/\.(?:webhook\.office\.com|logic\.azure\.com|powerplatform\.com|powerautomate\.com)$/, 'teams'],
]

const formAt = (url: string): Form => {
  const hostname = URL.parse(url)?.hostname ?? ''
  return hosts.find(([host]) => host.test(hostname))?.[1] ?? 'slack'
}

const OPEN = 'Open in Guard'

/** What the message is about beside its sentence. */
const about = ({ event, project_id }: Notification): string =>
  [event.replaceAll('_', ' '), project_id].filter((part) => part !== null && part !== '').join(' · ')

/** The three signs that mean something to Slack: without them there is no link and no `<!channel>`. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const slackBody = (notification: Notification): object => {
  const { text, url } = notification
  const link = `<${slackText(url).replaceAll('|', '%7C')}|${OPEN}>`
  return {
    text: slackText(text),
    blocks: [
      { type: 'section', text: { type: 'plain_text', text, emoji: false } },
      {
        type: 'context',
        elements: [
          ...(url === '' ? [] : [{ type: 'mrkdwn', text: link, verbatim: true }]),
          // names may hold stars and backticks
          { type: 'plain_text', text: about(notification), emoji: false },
        ],
      },
    ],
  }
}

/** Signs that mean something in Discord's Markdown, or make a link of an address. */
const discordText = (text: string): string => text.replace(/[\\*_~`|>#[\]()<@:-]/g, '\\$&')

const discordBody = (notification: Notification): object => {
  const { text, url, at } = notification
  return {
    // nobody is called by what stands in a name
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: OPEN,
        ...(url === '' ? {} : { url }),
        description: discordText(text),
        timestamp: new Date(at).toISOString(),
        footer: { text: about(notification) },
      },
    ],
  }
}

/** A text run has no Markdown, which a text block has. */
const plainBlock = (text: string, more: object = {}): object => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...more }],
})

const teamsBody = (notification: Notification): object => {
  const { text, url } = notification
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [plainBlock(text), plainBlock(about(notification), { isSubtle: true, size: 'Small' })],
    ...(url === '' ? {} : { actions: [{ type: 'Action.OpenUrl', title: OPEN, url }] }),
  }
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  }
}

const bodies: Readonly<Record<Form, (notification: Notification) => object>> = {
  slack: slackBody,
  discord: discordBody,
  teams: teamsBody,
}
