import { Gateway, type Plugin } from 'guard-gateway/core'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { jsonl } from 'guard-gateway/plugins/export-formats/jsonl'
import { otel } from 'guard-gateway/plugins/export-formats/otel'
import { recorder } from 'guard-gateway/plugins/recorder'
import { replay } from 'guard-gateway/plugins/replay'
import { sessions } from 'guard-gateway/plugins/sessions'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { foundation } from 'guard-gateway/presets/foundation'

/** A gateway with the trace store in a database file, not yet open. It deletes no old runs. Several benches can use the file at once. */
export const replayGateway = (file: string, ...more: readonly Plugin[]): Gateway =>
  new Gateway().use(
    ...foundation(),
    sqlite({ file, exclusive: false }),
    json,
    jsonl,
    otel,
    ...more,
    sessions(),
    recorder(),
    replay({ retention: { days: null, max_runs: null, max_bytes: null } }),
  )
