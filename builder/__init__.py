"""The Django project: pipelines, deployments and what the browser sees.

Importing `builder` itself stays free of every installed package, because
`builder.local.install` runs before any package is there.
"""
