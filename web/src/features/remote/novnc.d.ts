// The used part of noVNC (API.md of its package), which has no types.
declare module '@novnc/novnc' {
  // biome-ignore lint/style/noDefaultExport: noVNC has a default export
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket, options?: { shared?: boolean });
    viewOnly: boolean;
    scaleViewport: boolean;
    focusOnClick: boolean;
    showDotCursor: boolean;
    background: string;
    disconnect(): void;
    focus(): void;
    blur(): void;
    clipboardPasteFrom(text: string): void;
    readonly _clipboardServerCapabilitiesFormats: Readonly<Record<number, boolean>>;
    readonly _clipboardServerCapabilitiesActions: Readonly<Record<number, boolean>>;
  }
}
