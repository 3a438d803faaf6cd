/** Lint rules of this repository that no published rule set has. Each has a planted fault in test/gates. */

/** `new Date()` and `Date()` without arguments read the clock; with arguments they only calculate. */
const noAmbientDate = {
  create(context) {
    const check = (node) => {
      if (node.callee.type === 'Identifier' && node.callee.name === 'Date' && node.arguments.length === 0) {
        context.report({ node, message: 'Reads the clock. Take the time as an argument.' });
      }
    };
    return {
      NewExpression: check,
      CallExpression: check,
    };
  },
};

/** A named import of zod pulls all of it into a bundle (443 instead of 88 kB): bundlers cannot shake its `z` object. */
const zodNamespaceImport = {
  create(context) {
    return {
      ImportDeclaration(node) {
        const named = node.specifiers.some(({ type }) => type !== 'ImportNamespaceSpecifier');
        if (node.source.value === 'zod' && named && node.importKind !== 'type') {
          context.report({ node, message: "Write import * as z from 'zod'." });
        }
      },
    };
  },
};

export default {
  meta: { name: 'house' },
  rules: {
    'no-ambient-date': noAmbientDate,
    'zod-namespace-import': zodNamespaceImport,
  },
};
