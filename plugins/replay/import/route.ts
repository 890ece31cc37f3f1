import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { Type } from 'guard-gateway/lib/json'
import { traceFileErrors } from 'guard-gateway/lib/trace-file'
import type { RawQuery } from '../api/filters.ts'
import { importQuery } from '../api/request-schemas.ts'
import { filesOf, importAnswer } from '../api/response-schemas.ts'
import { routeSchema } from '../api/route-schema.ts'
import { acceptForms, FileForm, readFileForm } from './form.ts'
import type { ImportAnswer } from './import.ts'
import type { Imports } from './imports.ts'
import { type Spooled, spooled } from './spool.ts'

/** Imports export files of any content type, or from field `file` of a form. */
export const importRoute = (imports: Imports) => async (app: FastifyInstance) => {
  const { max_bytes } = imports
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, body: Readable) =>
    spooled(body, request.headers['content-encoding'], max_bytes),
  )
  await acceptForms(app, max_bytes)
  // a closing server waits for responses
  app.addHook('preClose', async () => imports.close())

  const schema = routeSchema('Import a supported trace representation', {
    querystring: importQuery,
    body: filesOf('The file itself, or a form with it.', importedTypes),
    response: { 200: importAnswer, 201: importAnswer },
  })
  app.post<{ Querystring: RawQuery }>('/runs/import', { schema }, async (request, reply) => {
    if (!request.isMultipart()) return answer(reply, await imports.take(fileIn(request.body), request.query, reply))
    const form = new FileForm()
    const file = await readFileForm(request, form, max_bytes)
    return answer(reply, await imports.take(file, { ...request.query, ...form.fields }, reply))
  })
}

const answer = (reply: FastifyReply, answered: ImportAnswer): FastifyReply =>
  reply.code(answered.imported.length > 0 && answered.dry_run !== true ? 201 : 200).send(answered)

const file = Type.Unsafe<string>({ type: 'string', format: 'binary' })
const importedTypes = {
  'application/json': file,
  'application/x-ndjson': file,
  'application/octet-stream': file,
  'multipart/form-data': Type.Object({ file, ...importQuery.properties }),
}

const fileIn = (body: unknown): Spooled => {
  const file = body as Spooled | undefined
  if (file !== undefined && file.size > 0) return file
  throw new GuardError(traceFileErrors.INVALID_IMPORT, 'Send the file itself as the body.', { line: 1 })
}
