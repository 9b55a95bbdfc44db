import type { ChatMessage } from '@palisade/contract/chat-record';
import type { DeskMessage } from '@palisade/contract/desk-record';

/** A message as lines of a text file: time (UTC), author and text. */
export function transcriptOf(message: ChatMessage | DeskMessage, customer: string): string {
  const { timestamp, sender, author, is_automatic, attachments, card } = message;
  const note = 'is_note' in message && message.is_note ? ' (internal note)' : '';
  const support = is_automatic ? 'Automatic reply' : (author ?? 'Support');
  const who = sender === 'user' ? customer : support;
  const cards = {
    shared: (title: string) => `[shared: ${title}]`,
    article: (title: string) => `[help page: ${title}]`,
  };
  const lines = [
    ...(message.message === '' ? [] : [message.message]),
    ...attachments.map(({ filename }) => `[file: ${filename}]`),
    ...(card === null || card.kind === 'mail'
      ? []
      : [card.kind === 'remote_session' ? '[remote session]' : cards[card.kind](card.title)]),
  ];
  return `${timestamp.slice(0, 16).replace('T', ' ')} UTC, ${who}${note}:\n${lines.join('\n')}\n\n`;
}
