export {
  type OutgoingAnswer,
  OutgoingFailed,
  type OutgoingHttp,
  type OutgoingOptions,
  type OutgoingRequest,
  outgoingHttp,
} from './outgoing-http.ts';
