import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { approverHeaders } from '#lib/approver'
import { rejectUnknownFilters } from '#lib/errors'
import { datedCursor } from '#lib/paging'
import {
  type Approver,
  approvalById,
  currentState,
  decideApproval,
  textsById,
  undoApproval,
} from '../approvals/index.ts'
import {
  approval,
  approvalParams,
  approvalsPage,
  approvalsQuery,
  decisionBody,
  wholeApproval,
} from './approval-schemas.ts'
import { auditFile, eventsPage, eventsQuery, exportQuery } from './event-schemas.ts'
import { bundleJson, bundleLines, type ExportParts } from './export.ts'
import { approvalQuery, eventQuery } from './queries.ts'
import { pinsAnswer, pinsBody, serverParams, serversAnswer } from './server-schemas.ts'
import { approvalView, eventView } from './views.ts'

/** What people see and decide of MCP traffic. */
export interface Management extends ExportParts {
  readonly approver: Approver
  /** Trusts the definitions of tools as they stand, and gives the names of those that changed thereby. Throws MCP_SERVER_NOT_FOUND, VERSION_CONFLICT. */
  acceptPins(
    server_id: string,
    tools: readonly string[] | 'all',
    displayed: readonly string[] | undefined,
  ): Promise<readonly string[]>
}

const tags = ['mcp']

const viaOf = (headers: Readonly<Record<string, unknown>>): 'cli' | 'api' =>
  headers['x-guard-via'] === 'cli' ? 'cli' : 'api'

/** Servers, audit, approvals, pins and export, below `/api/v1/mcp`. */
export const managementRoutes =
  (parts: Management): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { gateway, approvals, approver } = parts

    const servers = { summary: 'List configured upstream servers', tags, response: { 200: serversAnswer } }
    app.get('/servers', { schema: servers }, () => parts.servers())

    const pins = {
      summary: 'Trust the definitions of tools as they stand',
      tags,
      headers: approverHeaders,
      params: serverParams,
      body: pinsBody,
      response: { 200: pinsAnswer },
    }
    app.post('/servers/:id/pins', { schema: pins }, async ({ headers, params, body }) => {
      approver.checkHeaders(headers)
      return { accepted: [...(await parts.acceptPins(params.id, body.tools, body.fingerprints))] }
    })

    const events = {
      summary: 'Read redacted MCP audit events, newest first',
      tags,
      querystring: eventsQuery,
      response: { 200: eventsPage },
    }
    app.get('/events', { schema: events }, async ({ query }) => {
      rejectUnknownFilters(query, eventsQuery)
      const now = gateway.clock.now()
      const { rows, next_cursor, truncated } = await gateway.storage.find('mcp_audit', eventQuery(query, now))
      return { events: rows.map(eventView), next_cursor: datedCursor(next_cursor, query.cursor, now), truncated }
    })

    const list = {
      summary: 'List approval requests, newest first',
      tags,
      querystring: approvalsQuery,
      response: { 200: approvalsPage },
    }
    app.get('/approvals', { schema: list }, async ({ query }) => {
      rejectUnknownFilters(query, approvalsQuery)
      // those whose time is over are found by this status once it is written down
      if (query.status === 'expired') await approvals.sweep()
      const found = await gateway.storage.find('mcp_approvals', approvalQuery(query))
      const displayed = found.rows.map((row) => currentState(approvals, row))
      const matching =
        query.status === undefined ? displayed : displayed.filter(({ status }) => status === query.status)
      return { approvals: matching.map(approvalView), next_cursor: found.next_cursor, truncated: found.truncated }
    })

    const one = { summary: 'Read one approval', tags, params: approvalParams, response: { 200: wholeApproval } }
    app.get('/approvals/:id', { schema: one }, async ({ params }) => {
      const row = await approvalById(gateway, approvals, params.id)
      return { ...approvalView(row), ...(row.argument_chars === null ? {} : await textsById(gateway, row)) }
    })

    const decide = {
      summary: 'Submit a decision',
      tags,
      headers: approverHeaders,
      params: approvalParams,
      body: decisionBody,
      response: { 200: approval },
    }
    app.post('/approvals/:id', { schema: decide }, async (request) => {
      approver.checkHeaders(request.headers)
      const { argument_hash, ...decision } = request.body
      const displayed = argument_hash === undefined ? {} : { argument_hash }
      const via = viaOf(request.headers)
      return approvalView(
        await decideApproval(gateway, approvals, request.params.id, { ...decision, expected: displayed }, via),
      )
    })

    const undo = {
      summary: 'Take an allowance back that is not used yet',
      tags,
      params: approvalParams,
      response: { 200: approval },
    }
    app.post('/approvals/:id/undo', { schema: undo }, async ({ params, headers }) =>
      approvalView(await undoApproval(gateway, approvals, params.id, viaOf(headers))),
    )

    const file = {
      summary: 'Export the complete MCP audit bundle',
      tags,
      querystring: exportQuery,
      response: { 200: auditFile },
    }
    app.get('/export', { schema: file }, async ({ query }, reply) => {
      rejectUnknownFilters(query, exportQuery)
      const { format = 'json', ...filters } = query
      const [bundle, type] =
        format === 'json'
          ? ([bundleJson, 'application/json; charset=utf-8'] as const)
          : ([bundleLines, 'application/x-ndjson'] as const)
      return reply
        .type(type)
        .header('content-disposition', `attachment; filename="mcp-audit.${format}"`)
        .send(Readable.from(bundle(parts, filters), { objectMode: false }))
    })
  }
