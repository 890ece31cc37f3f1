import {
  createTap,
  type Gateway,
  headerOf,
  type ProviderObject,
  type ProxyRequest,
  type Reply,
} from 'guard-gateway/core'
import { collectionAt, objectsIn, objectsInPath, replyMeter } from '#lib/api-style'
import { type JsonObject, jsonObjectOf, nonEmptyText } from '#lib/json'
import type { Owner, Owners } from './owners.ts'

/** What makes files of its own while it works. */
const MAKERS: ReadonlySet<string> = new Set(['batch', 'fine_tuning_job', 'upload'])

/** Whether the reply to a request may name something new: what it created, or what came of it meanwhile. */
export const makesObjects = (request: ProxyRequest): boolean =>
  createdKind(request) !== undefined || objectsInPath(request.admission.path).some(({ kind }) => MAKERS.has(kind))

/** The kind of object that a request creates. */
const createdKind = ({ method, admission: { path } }: ProxyRequest): string | undefined =>
  method === 'POST' ? collectionAt(path) : undefined

/** Hears a reply, and puts what it names on record: for the owner of what the path names first, else for whoever created it. */
export const namesTap =
  (gateway: Gateway, request: ProxyRequest, owners: Owners, owner: Owner | undefined) => (reply: Reply) => {
    const named: ProviderObject[] = []
    const meter = replyMeter({ status: reply.status, stream: false }, () => ({
      event: () => {},
      body: (value) => void named.push(...objectsOf(request, value)),
      close: () => null,
    }))
    const failed = (error: unknown): void => gateway.fault(error, 'provider-objects')
    const tap = createTap(meter, headerOf(reply.headers, 'content-encoding'), failed)
    return {
      push: (chunk: Uint8Array) => tap.push(chunk),
      end: async (): Promise<void> => {
        await tap.end()
        const whose = named.length === 0 ? undefined : (owner ?? (await creatorOf(gateway, request)))
        if (whose === undefined) return
        const { project_id, session_id } = whose
        for (const object of named) owners.note(object, { project_id, session_id, upstream: reply.upstream })
      },
    }
  }

/** Whoever created something; undefined: nothing was created. */
const creatorOf = async (gateway: Gateway, request: ProxyRequest) => {
  if (createdKind(request) === undefined) return undefined
  const { headers, identity } = request
  const { project_id } = await gateway.service('sessions').need().callerOf(headers, identity)
  return { project_id, session_id: null }
}

/** The object that a reply is, the file in it, and files that came of it. What a client wrote into it, as its metadata, names nothing. */
const objectsOf = (request: ProxyRequest, reply: JsonObject): readonly ProviderObject[] => {
  const kind = createdKind(request)
  const { output_file_id, error_file_id, result_files, file } = reply
  const made = objectsIn({ output_file_id, error_file_id, result_files })
  return [...(kind === undefined ? [] : idOf(kind, reply)), ...idOf('file', jsonObjectOf(file)), ...made]
}

/** By its id, or by its name, as `cachedContents/x`. */
const idOf = (kind: string, { id, name }: JsonObject): readonly ProviderObject[] => {
  const text = nonEmptyText(id)
  return text === null ? objectsInPath(`/${nonEmptyText(name) ?? ''}`) : [{ kind, id: text }]
}
