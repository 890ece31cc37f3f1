import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Gateway, GuardError, inflated } from 'guard-gateway/core'
import { Type } from 'typebox'
import { filesOf, importAnswer } from './answer-schemas.ts'
import { importQuery } from './ask-schemas.ts'
import { described } from './described.ts'
import type { RawQuery } from './filters.ts'
import { importRuns, type OnConflict } from './import.ts'
import type { Keeper } from './keeper.ts'

const conflicts: readonly OnConflict[] = ['remap', 'skip', 'fail']
const known = ['on_conflict', 'project_id']

/** Takes in export files as they are, of any content type. */
export const importRoute = (gateway: Gateway, keeper: Keeper, max_bytes: number) => async (app: FastifyInstance) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(
    '*',
    { parseAs: 'buffer', bodyLimit: max_bytes },
    async (request: FastifyRequest, body: Buffer) => inflated(body, request.headers['content-encoding'], max_bytes),
  )

  const schema = described('Import a supported trace representation', {
    querystring: importQuery,
    body: filesOf('The file itself.', importedTypes),
    response: { 200: importAnswer, 201: importAnswer },
  })
  app.post<{ Querystring: RawQuery }>('/runs/import', { schema }, async ({ body, query }, reply) => {
    const on_conflict = onConflict(query)
    const project = projectIn(query)
    const text = textOf(body)
    const answer = await importRuns(gateway, keeper, text, {
      on_conflict,
      ...(project === undefined ? {} : { project_id: project }),
    })
    return reply.code(answer.imported.length > 0 ? 201 : 200).send(answer)
  })
}

const file = Type.Unsafe<string>({ type: 'string', format: 'binary' })
const importedTypes = { 'application/json': file, 'application/x-ndjson': file, 'application/octet-stream': file }

const textOf = (body: unknown): string => {
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw new GuardError('INVALID_IMPORT', 'Send the file itself as the body.', { line: 1 })
  if (!isUtf8(body)) throw new GuardError('INVALID_IMPORT', 'The file is not UTF-8 text.', { line: 1 })
  return body.toString()
}

const onConflict = (query: RawQuery): OnConflict => {
  const odd = Object.keys(query).find((name) => !known.includes(name))
  if (odd !== undefined)
    throw new GuardError('UNKNOWN_FILTER', `There is no parameter "${odd}"; there is ${known.join(', ')}.`, { known })
  const { on_conflict = 'remap' } = query
  const found = conflicts.find((one) => one === on_conflict)
  if (found === undefined)
    throw new GuardError('INVALID_FILTER', `"on_conflict" must be ${conflicts.join(', ')}.`, { path: '/on_conflict' })
  return found
}

const PROJECT = /^[A-Za-z0-9._:@/+=-]{1,128}$/

const projectIn = ({ project_id }: RawQuery): string | undefined => {
  if (project_id === undefined || project_id === '') return undefined
  if (typeof project_id === 'string' && PROJECT.test(project_id)) return project_id
  throw new GuardError('INVALID_ID', '"project_id" must be 1 to 128 letters, digits or . _ : @ / + = -', {
    path: '/project_id',
  })
}
