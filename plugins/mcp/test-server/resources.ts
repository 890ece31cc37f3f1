import { PNG } from './samples.ts'

type Contents = Readonly<Record<string, string>>

/** Answer to `resources/list`. */
export const resources = [
  { uri: 'test://static-text', name: 'static-text', description: 'A text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', description: 'An image', mimeType: 'image/png' },
  {
    uri: 'test://watched-resource',
    name: 'watched-resource',
    description: 'Can be subscribed to',
    mimeType: 'text/plain',
  },
]

/** Answer to `resources/templates/list`. */
export const templates = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    description: 'Data for an id',
    mimeType: 'application/json',
  },
]

const known = new Map<string, Contents>([
  ['test://static-text', { mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  ['test://static-binary', { mimeType: 'image/png', blob: PNG }],
  ['test://watched-resource', { mimeType: 'text/plain', text: 'Watched resource content.' }],
])

/** The contents of a resource; undefined if there is none. */
export const readResource = (uri: string): readonly Contents[] | undefined => {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  const contents =
    id === undefined
      ? known.get(uri)
      : {
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        }
  return contents === undefined ? undefined : [{ uri, ...contents }]
}
