import { type Refusal, refusalsFrom } from './refusals.ts';

/** Refusals that occur before any feature, and those that several features share. A released code never changes its meaning or its parameters. */
export const PLATFORM_REFUSALS = {
  'server.stopping': { problem: 'unavailable', english: 'This server is stopping. Try again in a moment.' },
  'address.unknown': { problem: 'not_found', english: 'The API doesn’t have this address.' },
  'file.empty': { problem: 'invalid_field', english: 'This file is empty. Choose another one.' },
  'file.copy_unreadable': { problem: 'unavailable', english: 'We can’t open our copy of this file. Send it again.' },
  'file_store.away': { problem: 'unavailable', english: 'The file store doesn’t answer. Try again in a few seconds.' },
  'database.away': { problem: 'unavailable', english: 'The database doesn’t answer. Try again in a few seconds.' },
  'database.busy': { problem: 'unavailable', english: 'The database is busy. Try again in a few seconds.' },
  'database.collision': { problem: 'unavailable', english: 'Someone else just changed this. Try again.' },
  'database.storage': {
    problem: 'storage_full',
    english: 'The database’s disk is full. Your existing data is safe. Tell your server administrator.',
  },
  'socket.only': { problem: 'not_found', english: 'This address supports only WebSocket.' },
  'socket.token_in_address': {
    problem: 'malformed',
    english: 'Send the access token in the first message, never in the address.',
  },
  'socket.other_site': { problem: 'forbidden', english: 'Other sites can’t connect here.' },
  'socket.too_many': {
    problem: 'too_many_requests',
    english: 'Your network has too many live connections. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'upload.too_large': {
    problem: 'too_large',
    english: 'The file is larger than {maximum}, the scan limit.',
    params: { maximum: 'bytes' },
  },
  'upload.no_boundary': { problem: 'malformed', english: 'The multipart request has no boundary.' },
  'upload.interrupted': { problem: 'malformed', english: 'The upload was interrupted. Upload the file again.' },
  'upload.too_long': {
    problem: 'upload_stalled',
    english: 'The upload took too long and stopped. Upload the file again over a faster connection.',
  },
  'upload.too_slow': {
    problem: 'upload_stalled',
    english: 'The upload was too slow and stopped. Upload the file again over a faster connection.',
  },
  'upload.several_files': { problem: 'invalid_field', english: 'Send one file per request.' },
  'upload.other_field': { problem: 'invalid_field', english: 'Send the file in the field "{field}".', params: { field: 'text' } },
  'upload.no_file': {
    problem: 'invalid_field',
    english: 'Choose a file. The request has none in the field "{field}".',
    params: { field: 'text' },
  },
  'metrics.wrong_token': { problem: 'unauthenticated', english: 'The token of METRICS_TOKEN is missing or wrong.' },
  'requests.too_many_at_once': { problem: 'too_many_requests', english: 'Your network has too many requests in progress.' },
  'requests.too_many': {
    problem: 'too_many_requests',
    english: 'You sent too many requests at once. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'request.fields': { problem: 'invalid_field', english: 'Check these fields: {fields}.', params: { fields: 'text' } },
  'request.header': { problem: 'invalid_field', english: 'We can’t read this header.' },
  'request.nothing_there': { problem: 'malformed', english: 'The request asks for something that doesn’t exist.' },
  'request.address_encoding': { problem: 'malformed', english: 'The address isn’t encoded correctly.' },
  'request.address_fragment': { problem: 'malformed', english: 'The address of a request has no # part.' },
  'request.address_not_text': { problem: 'malformed', english: 'The address contains a character that isn’t text (%00).' },
  'request.not_utf8': { problem: 'malformed', english: 'The body isn’t UTF-8.' },
  'request.too_deep': {
    problem: 'malformed',
    english: 'The body has more than {maximum} nested levels.',
    params: { maximum: 'number' },
  },
  'request.too_many_values': {
    problem: 'malformed',
    english: 'The body has more than {maximum} values.',
    params: { maximum: 'number' },
  },
  'request.not_text': { problem: 'invalid_field', english: 'This contains a character that isn’t text. Type it again.' },
  'request.two_hosts': { problem: 'malformed', english: 'The request names more than one host.' },
  'request.not_json': { problem: 'unsupported_media_type', english: 'Send the request as application/json.' },
  'request.not_multipart': {
    problem: 'unsupported_media_type',
    english: 'Send the file as multipart/form-data in the field "{field}".',
    params: { field: 'text' },
  },
  'request.late': { problem: 'malformed', english: 'The request took too long to arrive. Send it again.' },
  'request.large_headers': { problem: 'too_large', english: 'The headers of the request are larger than 16 KiB.' },
  'request.unreadable': { problem: 'malformed', english: 'The server can’t read this HTTP/1.1 request.' },
  'email.already_sent': { problem: 'conflict', english: 'This email was sent already, or will be sent soon. Reload the list.' },
  'agent_package.not_safe': {
    problem: 'forbidden',
    english: 'Installing the agent needs https, so that devices can trust this server. Set up https and PUBLIC_URL.',
  },
  'agent_package.not_built': { problem: 'not_found', english: 'This server has no device package. Build the server on Linux.' },
  'account.first_only_on_server': {
    problem: 'forbidden',
    english:
      'This account becomes the administrator, so create it on the server’s own computer, at http://localhost and its port. To create it from elsewhere, set EXPOSURE=public, PUBLIC_URL, and ADMIN_EMAILS, then restart the server.',
  },
} as const satisfies Record<string, Refusal>;

export const { sentence, refuse, refuseField, refuseFor } = refusalsFrom(PLATFORM_REFUSALS);
