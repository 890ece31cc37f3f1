import { PNG, WAV } from '../samples.ts'
import { type Content, object, type TestTool, text } from '../tool.ts'

const embedded = (uri: string, mimeType: string, words: string): Content => ({
  type: 'resource',
  resource: { uri, mimeType, text: words },
})
const image: Content = { type: 'image', data: PNG, mimeType: 'image/png' }

/** Tools that answer at once, one for each kind of content. */
export const contentTools: readonly TestTool[] = [
  {
    name: 'test_simple_text',
    description: 'Says one text',
    inputSchema: object(),
    call: () => text('This is a simple text response for testing.'),
  },
  {
    name: 'test_image_content',
    description: 'Shows an image of one pixel',
    inputSchema: object(),
    call: () => ({ content: [image] }),
  },
  {
    name: 'test_audio_content',
    description: 'Plays eight silent samples',
    inputSchema: object(),
    call: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  },
  {
    name: 'test_embedded_resource',
    description: 'Embeds a resource',
    inputSchema: object(),
    call: () => ({
      content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  },
  {
    name: 'test_multiple_content_types',
    description: 'Says a text, shows an image and embeds a resource',
    inputSchema: object(),
    call: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  {
    name: 'test_error_handling',
    description: 'Fails always',
    inputSchema: object(),
    call: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  },
]
