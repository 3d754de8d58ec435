"""Parts of definitions written outside of the algebra, as a package of your own would have them.

A part becomes known when it is registered: by `@register` in a module that a definition file imports, or, for
every process at once, by an entry point of an installed package::

    [project.entry-points."partitions.mappers"]
    StripNamespaceMapper = "your_package.namespaces:StripNamespaceMapper"

The groups are `partitions.mappers`, `.windows`, `.wait_policies` and `.timetables`.
"""
