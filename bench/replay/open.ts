import { Gateway, type Plugin } from 'guard-gateway/core'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { jsonl } from 'guard-gateway/plugins/export-formats/jsonl'
import { otel } from 'guard-gateway/plugins/export-formats/otel'
import { recorder } from 'guard-gateway/plugins/recorder'
import { replay } from 'guard-gateway/plugins/replay'
import { sessions } from 'guard-gateway/plugins/sessions'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { foundation } from 'guard-gateway/presets/foundation'

/** A gateway with the trace store in a database file or another storage, not yet open. It deletes no old runs. Several benches can use the file at once. */
export const replayGateway = (store: string | Plugin, ...more: readonly Plugin[]): Gateway =>
  new Gateway().use(
    ...foundation(),
    typeof store === 'string' ? sqlite({ file: store, exclusive: false }) : store,
    json,
    jsonl,
    otel,
    ...more,
    sessions(),
    recorder(),
    replay({ retention: { days: null, max_runs: null, max_bytes: null } }),
  )
