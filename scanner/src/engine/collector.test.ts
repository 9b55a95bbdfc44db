import { describe, expect, it } from 'vitest';
import { createCollector } from './collector.ts';

const MIB = 1024 ** 2;

/** A process of which a test says what it holds, and what a collection leaves. */
function createProcess() {
  const state = { held: 100 * MIB, left: 100 * MIB, collections: 0 };
  const look = createCollector(
    () => state.held,
    () => {
      state.collections += 1;
      state.held = Math.min(state.held, state.left);
    },
    32 * MIB,
  );
  return { state, look };
}

describe('memory that files leave behind', () => {
  it('is collected once it is worth while, and what stays is told', () => {
    const { state, look } = createProcess();
    state.held = 131 * MIB;
    expect(look()).toBeUndefined();
    state.held = 132 * MIB;
    expect(look()).toBe(100 * MIB);
  });

  it('is not collected after each file where most of it stays', () => {
    const { state, look } = createProcess();
    Object.assign(state, { left: 138 * MIB, held: 140 * MIB });
    const told = Array.from({ length: 100 }, () => {
      state.held += MIB / 8;
      return look();
    }).filter((one) => one !== undefined);
    expect(told).toEqual([138 * MIB]);
    expect(state.collections).toBe(1);
  });

  it('is collected again after as much more', () => {
    const { state, look } = createProcess();
    Object.assign(state, { left: 138 * MIB, held: 140 * MIB });
    look();
    Object.assign(state, { left: 160 * MIB, held: 170 * MIB });
    expect(look()).toBe(160 * MIB);
  });

  it('counts from what is held once the kernel has taken memory back', () => {
    const { state, look } = createProcess();
    Object.assign(state, { left: 150 * MIB, held: 150 * MIB });
    look();
    state.held = 104 * MIB;
    expect(look()).toBeUndefined();
    Object.assign(state, { left: 120 * MIB, held: 136 * MIB });
    expect(look()).toBe(120 * MIB);
  });
});
