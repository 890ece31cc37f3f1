export { EventCutter } from './sse/event-cutter.ts'
export { EventReader, eventTexts, messageEvent, type RawEvent, withData, withEventId } from './sse/event-reader.ts'
export { EventSplitter, type OnData } from './sse/event-splitter.ts'
