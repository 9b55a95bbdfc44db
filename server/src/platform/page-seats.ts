import type { SaidFrame, ServerFrame } from '@palisade/contract/events';
import type { Connection } from './channels/channel-service.ts';
import type { Session } from './session.ts';

/** Frames of a page about remote sessions, and all others. */
export type RemoteFrame = Extract<SaidFrame, { kind: 'listen_remote' | 'leave_remote' | 'remote_signal' }>;
export type DeskFrame = Exclude<SaidFrame, RemoteFrame>;

/** A page's frames beside those of its own person. */
export interface PageSeat<Frame> {
  onFrame(frame: Frame): void;
  /** Whether it hears anything that not everybody may. */
  isOfStaff(): boolean;
  leave(): void;
}

/** A page, as far as remote sessions need it. */
export interface RemotePage extends Pick<Connection<Session, ServerFrame>, 'tell' | 'end'> {
  user: Session['user'];
  began: Session['began'];
}

/** The feature that lets pages take part in remote sessions. */
export interface RemotePages {
  /** The page has been welcomed, and hears its person's open sessions. */
  onWelcome(page: RemotePage): void;
  sit(page: RemotePage): PageSeat<RemoteFrame>;
}
